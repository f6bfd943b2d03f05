import { describe, expect, test } from "vitest";

import { clusterRoles } from "../../src/kinds/index.ts";
import {
  compareConfiguration,
  configurationOwnerLabel,
  type ConfigurationState,
  type ConfigurationStep,
  configurationStep,
  desiredConfiguration,
  keptState,
  ownedBy,
  waitBeforeWriteMs,
  type WebhookConfigurationSpec,
} from "../../src/webhook/webhook-configuration.ts";

const spec = {
  kind: "mutating",
  name: "inject",
  webhooks: [
    {
      name: "pods.inject.example.org",
      path: "/inject",
      rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"] }],
      failurePolicy: "Fail",
      sideEffects: "None",
    },
  ],
} as const satisfies WebhookConfigurationSpec;

const fill = {
  address: { service: { namespace: "qm", name: "webhook" } },
  bundlePem: "pem",
  owner: "qm.quartermaster",
};

const wanted = desiredConfiguration(spec, fill);

describe("what is done about a configuration", () => {
  const here = { isWanted: true, hasBundle: true, isOwnerLeaving: false } as const;
  test.each<{ readonly name: string; readonly given: ConfigurationState; readonly want: ConfigurationStep }>([
    { name: "wanted and absent", given: { ...here, live: "absent" }, want: "create" },
    { name: "wanted and right", given: { ...here, live: "asWanted" }, want: "keep" },
    { name: "wanted and edited", given: { ...here, live: "differs" }, want: "replace" },
    { name: "wanted and foreign", given: { ...here, live: "foreign" }, want: "nameTaken" },
    {
      name: "wanted without a bundle: it would refuse every request",
      given: { ...here, hasBundle: false, live: "absent" },
      want: "keep",
    },
    {
      name: "wanted, there, and the bundle is lost: the old one still serves",
      given: { ...here, hasBundle: false, live: "differs" },
      want: "keep",
    },
    {
      name: "wanted and empty, as the installation brings it",
      given: { ...here, live: "empty" },
      want: "replace",
    },
    { name: "unwanted and empty", given: { ...here, isWanted: false, live: "empty" }, want: "keep" },
    { name: "unwanted and absent", given: { ...here, isWanted: false, live: "absent" }, want: "keep" },
    { name: "unwanted and there", given: { ...here, isWanted: false, live: "asWanted" }, want: "clear" },
    { name: "unwanted and edited", given: { ...here, isWanted: false, live: "differs" }, want: "clear" },
    {
      name: "unwanted without a bundle",
      given: { ...here, isWanted: false, hasBundle: false, live: "differs" },
      want: "clear",
    },
    {
      name: "unwanted and foreign: never deleted",
      given: { ...here, isWanted: false, live: "foreign" },
      want: "keep",
    },
    {
      name: "not known yet, absent",
      given: { ...here, isWanted: undefined, live: "absent" },
      want: "keep",
    },
    {
      name: "not known yet, there",
      given: { ...here, isWanted: undefined, live: "asWanted" },
      want: "keep",
    },
    {
      name: "wanted and absent, while the installation is removed",
      given: { ...here, live: "absent", isOwnerLeaving: true },
      want: "keep",
    },
    {
      name: "wanted and empty, while the installation is removed",
      given: { ...here, live: "empty", isOwnerLeaving: true },
      want: "keep",
    },
    {
      name: "wanted and edited, while the installation is removed",
      given: { ...here, live: "differs", isOwnerLeaving: true },
      want: "keep",
    },
    {
      name: "unwanted and there, while the installation is removed",
      given: { ...here, isWanted: false, live: "asWanted", isOwnerLeaving: true },
      want: "clear",
    },
  ])("$name", ({ given, want }) => {
    expect(configurationStep(given)).toBe(want);
  });
});

test("the service and the bundle are filled in, and every default is said", () => {
  expect(wanted).toEqual({
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "MutatingWebhookConfiguration",
    metadata: { name: "inject", labels: { [configurationOwnerLabel]: "qm.quartermaster" } },
    webhooks: [
      {
        name: "pods.inject.example.org",
        clientConfig: {
          service: { namespace: "qm", name: "webhook", port: 443, path: "/inject" },
          caBundle: Buffer.from("pem").toString("base64"),
        },
        rules: [
          { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"], scope: "*" },
        ],
        failurePolicy: "Fail",
        sideEffects: "None",
        timeoutSeconds: 10,
        matchPolicy: "Equivalent",
        namespaceSelector: {},
        objectSelector: {},
        reinvocationPolicy: "Never",
        admissionReviewVersions: ["v1"],
      },
    ],
  });
});

const noOwner = { uid: undefined };

describe("who a configuration belongs to", () => {
  const own = { kind: clusterRoles, name: "qm-webhook", uid: "new" };
  const reference = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", name: "qm-webhook" };
  const ownerReferences = (...owners: readonly object[]): typeof wanted =>
    ({ ...wanted, metadata: { ...wanted.metadata, ownerReferences: owners } }) as typeof wanted;
  const foreign = { apiVersion: "example.org/v1", kind: "Tool", name: "a", uid: "b" };
  const namespace = { apiVersion: "v1", kind: "Namespace", name: "qm", uid: "ns" };

  test.each([
    { name: "nothing yet", owners: [] },
    { name: "the namespace, as an earlier release made it", owners: [namespace] },
    { name: "the owner of an earlier installation", owners: [{ ...reference, uid: "old" }] },
    { name: "the owner already", owners: [{ ...reference, uid: "new" }] },
  ])("$name: it belongs to the owner alone, beside what others wrote", ({ owners }) => {
    expect(ownedBy(ownerReferences(foreign, ...owners), own).metadata.ownerReferences).toEqual([
      foreign,
      { ...reference, uid: "new" },
    ]);
  });

  test("where the owner may not be read, its references stay", () => {
    const before = ownerReferences(namespace);
    expect(ownedBy(before, { ...own, uid: undefined })).toEqual(before);
  });

  test.each([
    { name: "of the owner", owners: [{ ...reference, uid: "new" }], uid: "new", want: "asWanted" },
    { name: "of an earlier one", owners: [{ ...reference, uid: "old" }], uid: "new", want: "differs" },
    { name: "of no one", owners: [], uid: "new", want: "differs" },
    { name: "of no one, where the owner may not be read", owners: [], uid: undefined, want: "asWanted" },
  ])("a configuration $name is compared as $want", ({ owners, uid, want }) => {
    expect(compareConfiguration(wanted, ownerReferences(...owners), { uid })).toBe(want);
  });
});

test("one without webhooks is empty, whether the field is there or not", () => {
  const { webhooks, ...bare } = wanted;
  expect(webhooks).toHaveLength(1);
  expect(compareConfiguration(wanted, bare, noOwner)).toBe("empty");
  expect(compareConfiguration(wanted, { ...bare, webhooks: [] }, noOwner)).toBe("empty");
});

test("a configuration with our name but not our label is not ours", () => {
  const { labels, ...metadata } = wanted.metadata;
  expect(labels).toBeDefined();
  expect(compareConfiguration(wanted, { ...wanted, metadata }, noOwner)).toBe("foreign");
  const other = { ...metadata, labels: { [configurationOwnerLabel]: "elsewhere.quartermaster" } };
  expect(compareConfiguration(wanted, { ...wanted, metadata: other }, noOwner)).toBe("foreign");
});

test.each([
  { name: "nothing written yet", written: [], nowMs: 0, want: 0 },
  { name: "fewer than the limit", written: [1_000, 2_000], nowMs: 3_000, want: 0 },
  { name: "the limit within a minute", written: [1_000, 2_000, 3_000], nowMs: 4_000, want: 57_000 },
  {
    name: "the first of them just over a minute ago",
    written: [1_000, 2_000, 3_000],
    nowMs: 61_000,
    want: 0,
  },
  { name: "more than the limit", written: [0, 1_000, 2_000, 3_000], nowMs: 4_000, want: 57_000 },
])("a fight over a configuration is slowed down: $name", ({ written, nowMs, want }) => {
  expect(waitBeforeWriteMs(written, { nowMs, limit: 3 })).toBe(want);
});

test.each([
  { step: "keep", live: "asWanted", isWaiting: false, want: "inSync" },
  { step: "create", live: "absent", isWaiting: false, want: "inSync" },
  { step: "replace", live: "differs", isWaiting: false, want: "inSync" },
  { step: "replace", live: "differs", isWaiting: true, want: "outOfSync" },
  { step: "keep", live: "differs", isWaiting: false, want: "outOfSync" },
  { step: "nameTaken", live: "foreign", isWaiting: false, want: "outOfSync" },
  { step: "clear", live: "asWanted", isWaiting: false, isWanted: false, want: "absent" },
  { step: "keep", live: "absent", isWaiting: false, isWanted: false, want: "absent" },
  { step: "keep", live: "empty", isWaiting: false, isWanted: false, want: "absent" },
  { step: "keep", live: "empty", isWaiting: false, want: "outOfSync" },
] as const)("after $step of one that is $live it is $want", ({ want, ...given }) => {
  expect(keptState({ isWanted: true, ...given })).toBe(want);
});
