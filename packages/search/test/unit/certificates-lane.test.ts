import { issueAuthority, issueCertificate } from "@quartermaster/runtime/certificates";
import { describe, expect, test } from "vitest";

import { certificatesLane, renewedValue } from "../../src/certificates/certificates-lane.ts";
import { wantedLeaves } from "../../src/certificates/wanted-leaves.ts";
import { decideLane } from "../../src/lane.ts";
import type { SearchCluster } from "../../src/model/search-cluster.ts";
import type { LeafName, Material } from "../../src/seen.ts";
import { aSearchCluster } from "../a-search-cluster.ts";
import { aMaterial, aSeen } from "../support/a-seen.ts";

type LeafFact = NonNullable<ReturnType<Material["leaves"]["get"]>>;

const now = new Date("2026-11-17T00:00:00Z");
const dayMs = 86_400_000;
const validity = { notBeforeMs: now.getTime() - dayMs, notAfterMs: now.getTime() + 300 * dayMs };

async function anAuthority(): Promise<{ readonly certificatePem: string; readonly keyPem: string }> {
  return await issueAuthority({
    subject: { commonName: "ca", organizationalUnits: ["logs"], organizations: ["team"] },
    serial: "01",
    validity,
  });
}

/** Every leaf as it should be, signed by one authority, while the cluster has perhaps another. */
async function material(
  signer: Awaited<ReturnType<typeof anAuthority>>,
  authority = signer,
  annotationsOf: (leaf: string) => Readonly<Record<string, string>> = () => ({}),
): Promise<Material> {
  const base = aMaterial();
  const withAuthority = { ...base, authority: { ...base.authority, pair: authority } };
  const orders = wantedLeaves(aSeen({ material: withAuthority }));
  const leaves = await Promise.all(
    orders.map(async ({ leaf, subject, usages, dnsNames, secretName, trustPem }) => {
      const pair = await issueCertificate(signer, { subject, usages, dnsNames, serial: "02", validity });
      const live = {
        metadata: { annotations: annotationsOf(leaf) },
        data: { "ca.crt": Buffer.from(trustPem).toString("base64") },
      };
      return [leaf, { name: secretName, state: "ours" as const, live: live as never, pair }] as const;
    }),
  );
  return { ...withAuthority, leaves: new Map(leaves) };
}

test("leaves that are as they should be are left alone until the first is due", async () => {
  const decision = decideLane(
    certificatesLane,
    aSeen({ material: await material(await anAuthority()) }),
    now,
  );
  expect(decision).toMatchObject({ rule: "allValid", actions: [], outcome: { kind: "settled" } });
});

test("[search/SC-30] an authority that was made again, same name, other key: every leaf is issued anew", async () => {
  const seen = aSeen({ material: await material(await anAuthority(), await anAuthority()) });
  const decision = decideLane(certificatesLane, seen, now);
  expect(decision.rule).toBe("issueLeaves");
  expect(decision.actions.map((action) => ("leaf" in action ? action.leaf : action.kind))).toEqual([
    "transport",
    "http",
    "admin",
  ]);
});

describe("the annotation renew-certificates", () => {
  const base = aSearchCluster();
  const asked = (value: string | undefined): SearchCluster => ({
    ...base,
    requests: { ...base.requests, renewCertificates: value },
  });
  const all = ["transport", "http", "admin"];
  test.for<
    [
      string,
      {
        readonly asked: string | undefined;
        readonly issuedFor: Readonly<Record<string, string>>;
        readonly want: readonly string[];
        readonly renewed: string | undefined;
      },
    ]
  >([
    ["nobody asks", { asked: undefined, issuedFor: {}, want: [], renewed: "before" }],
    ["a first value", { asked: "monday", issuedFor: {}, want: all, renewed: "before" }],
    [
      "the operator died after one of them",
      { asked: "monday", issuedFor: { transport: "monday" }, want: ["http", "admin"], renewed: "before" },
    ],
    [
      "all were issued for it",
      {
        asked: "monday",
        issuedFor: { transport: "monday", http: "monday", admin: "monday" },
        want: [],
        renewed: "monday",
      },
    ],
    [
      "another value",
      {
        asked: "tuesday",
        issuedFor: { transport: "monday", http: "monday", admin: "monday" },
        want: all,
        renewed: "before",
      },
    ],
    [
      "taken away again",
      {
        asked: undefined,
        issuedFor: { transport: "monday", http: "monday", admin: "monday" },
        want: [],
        renewed: "before",
      },
    ],
  ])("%s", async ([, { asked: value, issuedFor, want, renewed }]) => {
    const signer = await anAuthority();
    const seen = aSeen({
      cluster: asked(value),
      material: await material(signer, signer, (leaf) => {
        const mark = issuedFor[leaf];
        return mark === undefined ? {} : { "search.quartermaster.dev/renewed": mark };
      }),
      status: { certificates: { renewed: "before" } },
    });
    const { actions } = decideLane(certificatesLane, seen, now);
    expect(actions.map((action) => ("leaf" in action ? action.leaf : action.kind))).toEqual(want);
    for (const action of actions) expect(action).toMatchObject({ asked: value });
    expect(renewedValue(seen)).toBe(renewed);
  });
});

describe("the certificate of a standalone stack", () => {
  const stackLeaf = (state: "missing" | "foreign"): [LeafName, LeafFact] => [
    "monitoring",
    { name: "logs-monitoring-cert", state, live: undefined, pair: undefined },
  ];

  test("is issued for the names of its Services, and valid on a port-forward", async () => {
    const whole = await material(await anAuthority());
    const seen = aSeen({ material: { ...whole, leaves: new Map([...whole.leaves, stackLeaf("missing")]) } });
    const { actions } = decideLane(certificatesLane, seen, now);
    expect(actions).toMatchObject([
      { kind: "issueLeaf", leaf: "monitoring", secretName: "logs-monitoring-cert", usages: ["server"] },
    ]);
    const { dnsNames } = wantedLeaves(seen).find(({ leaf }) => leaf === "monitoring") ?? { dnsNames: [] };
    expect(dnsNames).toEqual(
      expect.arrayContaining([
        "logs-prometheus.team.svc",
        "logs-alertmanager.team.svc",
        "logs-grafana.team.svc",
        "localhost",
      ]),
    );
  });

  test("is not issued into a Secret of somebody else's, which keeps no other one from being renewed", async () => {
    const whole = await material(await anAuthority(), await anAuthority());
    const seen = aSeen({ material: { ...whole, leaves: new Map([...whole.leaves, stackLeaf("foreign")]) } });
    const decision = decideLane(certificatesLane, seen, now);
    expect(decision.rule).toBe("issueLeaves");
    expect(decision.actions.map((action) => ("leaf" in action ? action.leaf : action.kind))).toEqual([
      "transport",
      "http",
      "admin",
    ]);
  });
});

test.for(["foreign", "kept", "missing"] as const)(
  "an authority that is %s is never signed with",
  async (state) => {
    const whole = await material(await anAuthority());
    const seen = aSeen({ material: { ...whole, authority: { ...whole.authority, state, pair: undefined } } });
    const decision = decideLane(certificatesLane, seen, now);
    expect(decision.actions.map((action) => action.kind)).not.toContain("issueLeaf");
    expect(decision.rule).toBe({ foreign: "foreignSecret", kept: "takeOver", missing: "makeRoots" }[state]);
  },
);

test("a running cluster that lost its authority gets no other one", async () => {
  const whole = await material(await anAuthority());
  const lost = { ...whole, authority: { ...whole.authority, state: "missing" as const, pair: undefined } };
  const decision = decideLane(certificatesLane, aSeen({ material: lost, status: { clusterUuid: "U" } }), now);
  expect(decision).toMatchObject({
    rule: "authorityLost",
    actions: [],
    outcome: { kind: "stalled", why: { reason: "AuthorityLost" } },
  });
});
