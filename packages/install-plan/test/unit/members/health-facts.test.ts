import type { Context } from "@quartermaster/runtime";
import { describe, expect, test } from "vitest";

import { readHealthFacts, storageFacts } from "../../../src/members/health-facts.ts";
import { type Identity, identityKey } from "../../../src/model/identity.ts";
import { aPlan } from "../../support/plans.ts";
import { aView } from "../../support/seen.ts";

const startedAt = "2026-01-01T00:00:00Z";
const applying = { startedAt, phase: "Applying", stage: "s" };

function memberOf(identity: Identity, manifest: object = {}) {
  const { apiVersion, kind, name } = identity;
  return {
    ...aView(name).member,
    identity,
    key: identityKey(identity),
    manifest: { apiVersion, kind, ...manifest },
  };
}

const service = (name: string, namespace = "ns") =>
  memberOf({ apiVersion: "v1", kind: "Service", namespace, name });

/** A configuration with a webhook for each of these Services. */
const configuration = (services: readonly { readonly namespace: string; readonly name: string }[]) =>
  memberOf(
    { apiVersion: "admissionregistration.k8s.io/v1", kind: "ValidatingWebhookConfiguration", name: "hooks" },
    {
      webhooks: services.map((each) => ({ clientConfig: { service: each } })),
    },
  );

/** Endpoints by Service; a list that is not read is not known. */
async function facts(
  members: readonly object[],
  {
    endpoints = {},
    status = applying,
  }: { readonly endpoints?: Readonly<Record<string, readonly object[]>>; readonly status?: object } = {},
) {
  const requested: string[] = [];
  const client = {
    listPage: async (_kind: unknown, { namespace, labelSelector }: Record<string, string>) => {
      const key = `${namespace ?? ""}/${(labelSelector ?? "").split("=")[1] ?? ""}`;
      requested.push(key);
      return await Promise.resolve({ items: [{ endpoints: endpoints[key] ?? [] }] });
    },
  };
  const { hasEndpoints } = await readHealthFacts(
    aPlan("p", { status }),
    { members } as never,
    client as never,
  );
  return { requested, hasEndpoints };
}

const ready = { conditions: { ready: true } };

describe("Services behind webhooks of a plan", () => {
  const names = ["a", "b", "c", "d"];

  test.each([1, 2, 3, 4])(
    "are all asked about, of %i webhooks in one configuration, each once",
    async (count) => {
      const called = names.slice(0, count).map((name) => ({ namespace: "ns", name }));
      const members = [...called.map(({ name }) => service(name)), configuration([...called, ...called])];
      const endpoints = { [`ns/${names[count - 1] ?? ""}`]: [ready] };
      const { requested, hasEndpoints } = await facts(members, { endpoints });
      expect(requested).toEqual(called.map(({ name }) => `ns/${name}`));
      expect(called.map(({ namespace, name }) => hasEndpoints?.(namespace, name))).toEqual(
        called.map((_each, at) => at === count - 1),
      );
    },
  );

  test("of one name in two namespaces are two", async () => {
    const locations = ["ns", "other"];
    const called = locations.map((namespace) => ({ namespace, name: "a" }));
    const members = [...locations.map((namespace) => service("a", namespace)), configuration(called)];
    const { requested, hasEndpoints } = await facts(members, { endpoints: { "other/a": [ready] } });
    expect(requested).toEqual(["ns/a", "other/a"]);
    expect(locations.map((namespace) => hasEndpoints?.(namespace, "a"))).toEqual([false, true]);
  });

  test.each([
    { name: "ready", endpoint: ready, want: true },
    { name: "not ready", endpoint: { conditions: { ready: false } }, want: false },
    { name: "of which nothing is said", endpoint: {}, want: true },
  ])("serve by an endpoint that is $name: $want", async ({ endpoint, want }) => {
    const members = [service("a"), configuration([{ namespace: "ns", name: "a" }])];
    expect((await facts(members, { endpoints: { "ns/a": [endpoint] } })).hasEndpoints?.("ns", "a")).toBe(
      want,
    );
  });

  test.each([
    { name: "before the first write", status: {} },
    { name: "once the plan is installed", status: { startedAt, phase: "Installed", finishedAt: startedAt } },
  ])("are not asked about $name", async ({ status }) => {
    const members = [service("a"), configuration([{ namespace: "ns", name: "a" }])];
    expect((await facts(members, { status })).requested).toEqual([]);
  });

  test("of others are not asked about", async () => {
    expect((await facts([configuration([{ namespace: "ns", name: "theirs" }])])).requested).toEqual([]);
  });
});

describe("a claim waits for its first pod", () => {
  const storageClass = (name: string, isDefault: string | undefined, volumeBindingMode: string) => ({
    metadata: {
      name,
      annotations:
        isDefault === undefined ? {} : { "storageclass.kubernetes.io/is-default-class": isDefault },
    },
    volumeBindingMode,
  });
  const classes = [
    storageClass("former", "false", "Immediate"),
    storageClass("fast", undefined, "Immediate"),
    storageClass("late", "true", "WaitForFirstConsumer"),
  ];
  const ctx = { store: () => ({ list: () => classes }) } as unknown as Context;

  test.each([
    { name: "of the default class", wanted: undefined, want: true },
    { name: "of a class that is the default no longer", wanted: "former", want: false },
    { name: "of a class that binds late", wanted: "late", want: true },
    { name: "of a class that binds immediately", wanted: "fast", want: false },
    { name: "of a class that does not exist", wanted: "none", want: false },
  ])("$name: $want", ({ wanted, want }) => {
    expect(storageFacts(ctx).isWaitForFirstConsumer?.(wanted)).toBe(want);
  });
});
