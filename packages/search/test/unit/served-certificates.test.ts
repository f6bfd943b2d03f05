import { issueCa, issueCertificate, readCertificate } from "@quartermaster/runtime/certificates";
import { describe, expect, test } from "vitest";

import { certificatesLane } from "../../src/certificates/certificates-lane.ts";
import { needsServedCertificates, servedCertificates } from "../../src/certificates/served-certificates.ts";
import { wantedCertificates } from "../../src/certificates/wanted-certificates.ts";
import type { Fact, ServedCertificates } from "../../src/engine/engine-facts.ts";
import { decideLane } from "../../src/lane.ts";
import { clusterReport } from "../../src/report/cluster-report.ts";
import type { ClusterStatus, Material, Seen } from "../../src/seen.ts";
import { aSearchCluster } from "../a-search-cluster.ts";
import { aMaterial, aPod, aSeen, engineFacts, known } from "../support/a-seen.ts";

const dayMs = 86_400_000;
const issuedMs = Date.parse("2026-11-17T10:00:00Z");
const validity = { notBeforeMs: issuedMs - 300_000, notAfterMs: issuedMs + 300 * dayMs };
const soon = new Date(issuedMs + 60_000);
const late = new Date(issuedMs + 3_600_000);

const ca = await issueCa({
  subject: { commonName: "ca", organizationalUnits: ["logs"], organizations: ["team"] },
  serial: "01",
  validity,
});

async function issued(): Promise<Material> {
  const base = aMaterial();
  const withCa = { ...base, ca: { ...base.ca, pair: ca } };
  const certs = await Promise.all(
    wantedCertificates(aSeen({ material: withCa })).map(
      async ({ certificate, secretName, trustPem, ...order }) => {
        const pair = await issueCertificate(ca, { ...order, serial: "02", validity });
        const live = { metadata: {}, data: { "ca.crt": Buffer.from(trustPem).toString("base64") } };
        return [
          certificate,
          { name: secretName, state: "ours" as const, live: live as never, pair },
        ] as const;
      },
    ),
  );
  return { ...withCa, certificates: new Map(certs) };
}

const material = await issued();
const http =
  readCertificate(material.certificates.get("http")?.pair?.certificatePem ?? "")?.fingerprint ?? "";
const current: ServedCertificates = { http, transportEndMs: validity.notAfterMs };
const oldHttp: ServedCertificates = { ...current, http: "old" };
const oldTransport: ServedCertificates = { ...current, transportEndMs: validity.notAfterMs - dayMs };
const silent: Fact<ServedCertificates> = { isKnown: false, why: "timeout" };

/** Nodes and what they were seen with; left out: never asked. */
function given(
  served: Readonly<Record<string, ServedCertificates | "silent" | undefined>>,
  changes: Partial<Seen> = {},
): Seen {
  const names = Object.keys(served);
  const facts = Object.entries(served).flatMap(([node, value]) =>
    value === undefined ? [] : [[node, value === "silent" ? silent : known(value)] as const],
  );
  return aSeen({
    material,
    status: { clusterUuid: "U" },
    pods: names.map((name) => aPod(name)),
    engine: engineFacts({ served: new Map(facts) }),
    ...changes,
  });
}

function decided(seen: Seen, now: Date): readonly unknown[] {
  const { actions, outcome } = decideLane(certificatesLane, seen, now);
  const reason = outcome.kind === "settled" ? "settled" : outcome.why.reason;
  return [
    reason,
    ...actions.map((action) =>
      action.kind === "reloadCertificates" ? `${action.node} ${action.layers.join("+")}` : action.kind,
    ),
  ];
}

describe("which nodes are told to read certificates again", () => {
  test.for<[string, Parameters<typeof given>[0], readonly string[]]>([
    ["no one has said anything", { a: undefined, b: undefined }, ["settled"]],
    ["all have them", { a: current, b: current }, ["settled"]],
    ["one node goes first", { a: oldHttp, b: oldHttp, c: oldHttp }, ["settled", "a http"]],
    [
      "then all the others",
      { a: current, b: oldHttp, c: oldTransport },
      ["settled", "b http", "c transport"],
    ],
    [
      "both layers of a node",
      { a: { http: "old", transportEndMs: 0 }, b: current },
      ["settled", "a http+transport"],
    ],
    [
      "without a word of the layer between nodes it goes with the other",
      { a: { http, transportEndMs: undefined }, b: { http: "old", transportEndMs: undefined } },
      ["settled", "b http+transport"],
    ],
    ["who does not say is not told", { a: current, b: "silent", c: oldHttp }, ["settled", "c http"]],
  ])("%s", ([, served, want]) => {
    expect(decided(given(served), soon)).toEqual(want);
  });

  test("who has not taken them after a quarter of an hour is named, and told on", () => {
    const seen = given({ a: current, b: oldHttp });
    expect(decided(seen, late)).toEqual(["CertificatesNotServed", "b http"]);
    expect(decideLane(certificatesLane, seen, late).outcome).toMatchObject({
      why: { message: expect.stringContaining("not served yet by b.") as string },
    });
  });

  test("silence alone is for others to report", () => {
    expect(decided(given({ a: current, b: "silent" }), late)).toEqual(["settled"]);
  });

  test("once all were seen with them, no node is queried or reloaded", () => {
    const { digest = "" } = servedCertificates(given({ a: current })) ?? {};
    const seen = given({ a: oldHttp }, { status: { clusterUuid: "U", certificates: { served: digest } } });
    expect(needsServedCertificates(seen)).toBe(false);
    expect(decided(seen, late)).toEqual(["settled"]);
  });

  const base = aSearchCluster();
  const { security } = base;
  const own = { certificatePem: "certificate", keyPem: "key" };
  test.for<[string, Partial<Seen>]>([
    ["a cluster that has not formed", { status: {} }],
    ["Elasticsearch, which follows its files", { cluster: { ...base, distribution: "elasticsearch" } }],
    ["nodes without security", { cluster: { ...base, security: { ...security, isEnabled: false } } }],
    [
      "clients without TLS, where no certificate proves who asks",
      { cluster: { ...base, security: { ...security, http: { ...security.http, isEnabled: false } } } },
    ],
    [
      "a Secret of the author whose key is that of another certificate: reading it is the end of a node",
      { cluster: { ...base, security: { ...security, http: { ...security.http, isGenerated: false } } } },
    ],
    [
      "a Secret of the author that is no certificate",
      {
        cluster: { ...base, security: { ...security, http: { ...security.http, isGenerated: false } } },
        material: { ...material, supplied: new Map([["http", own]]) },
      },
    ],
  ])("never: %s", ([, changes]) => {
    const seen = given({ a: oldHttp }, changes);
    expect(needsServedCertificates(seen)).toBe(false);
    expect(
      decideLane(certificatesLane, seen, late).actions.filter((each) => each.kind === "reloadCertificates"),
    ).toEqual([]);
  });

  test("the author's own certificate counts where it is a pair", () => {
    const pair = material.certificates.get("http")?.pair ?? own;
    const cluster = { ...base, security: { ...security, http: { ...security.http, isGenerated: false } } };
    const seen = given(
      { a: oldHttp },
      { cluster, material: { ...material, supplied: new Map([["http", pair]]) } },
    );
    expect(servedCertificates(seen)?.stale).toEqual([{ node: "a", layers: ["http"] }]);
  });
});

describe("what the status says of it", () => {
  function reported(
    served: Parameters<typeof given>[0],
    certificates: ClusterStatus["certificates"] = {},
  ): Pick<NonNullable<ClusterStatus["certificates"]>, "served" | "staleNodes"> {
    const seen = given(served, { status: { clusterUuid: "U", certificates } });
    const { served: digest, staleNodes } = clusterReport(seen, [], soon).certificates ?? {};
    return {
      ...(digest === undefined ? {} : { served: digest }),
      ...(staleNodes === undefined ? {} : { staleNodes }),
    };
  }
  const { digest } = servedCertificates(given({ a: current })) ?? { digest: "" };

  test.for<[string, Parameters<typeof reported>, ReturnType<typeof reported>]>([
    ["nothing is known yet", [{ a: undefined }], {}],
    [
      "the proof",
      [
        { a: current, b: current },
        { served: "before", staleNodes: ["b"] },
      ],
      { served: digest },
    ],
    [
      "who is stale",
      [{ a: current, b: oldHttp }, { served: "before" }],
      { served: "before", staleNodes: ["b"] },
    ],
    [
      "silence keeps a node listed",
      [
        { a: "silent", b: "silent" },
        { served: "before", staleNodes: ["b"] },
      ],
      { served: "before", staleNodes: ["b"] },
    ],
    [
      "a node that is gone is not listed",
      [{ a: "silent" }, { served: "before", staleNodes: ["b"] }],
      { served: "before" },
    ],
    [
      "nothing is asked any more",
      [{ a: "silent" }, { served: digest, staleNodes: ["a"] }],
      { served: digest },
    ],
  ])("%s", ([, args, want]) => {
    expect(reported(...args)).toEqual(want);
  });
});
