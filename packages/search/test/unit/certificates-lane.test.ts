import { issueCa, issueCertificate } from "@quartermaster/runtime/certificates";
import { describe, expect, test } from "vitest";

import { certificatesLane, renewedValue } from "../../src/certificates/certificates-lane.ts";
import { wantedCertificates } from "../../src/certificates/wanted-certificates.ts";
import { decideLane } from "../../src/lane.ts";
import type { SearchCluster } from "../../src/model/search-cluster.ts";
import type { CertificateName, Material } from "../../src/seen.ts";
import { aSearchCluster } from "../a-search-cluster.ts";
import { aMaterial, aSeen } from "../support/a-seen.ts";

type CertificateFact = NonNullable<ReturnType<Material["certificates"]["get"]>>;

const now = new Date("2026-11-17T00:00:00Z");
const dayMs = 86_400_000;
const validity = { notBeforeMs: now.getTime() - dayMs, notAfterMs: now.getTime() + 300 * dayMs };

async function aCa(): Promise<{ readonly certificatePem: string; readonly keyPem: string }> {
  return await issueCa({
    subject: { commonName: "ca", organizationalUnits: ["logs"], organizations: ["team"] },
    serial: "01",
    validity,
  });
}

/** Every leaf as it should be, signed by one CA, while the cluster has perhaps another. */
async function material(
  signer: Awaited<ReturnType<typeof aCa>>,
  ca = signer,
  annotationsOf: (certificate: string) => Readonly<Record<string, string>> = () => ({}),
): Promise<Material> {
  const base = aMaterial();
  const withCa = { ...base, ca: { ...base.ca, pair: ca } };
  const orders = wantedCertificates(aSeen({ material: withCa }));
  const certificates = await Promise.all(
    orders.map(async ({ certificate, subject, usages, dnsNames, secretName, trustPem }) => {
      const pair = await issueCertificate(signer, { subject, usages, dnsNames, serial: "02", validity });
      const live = {
        metadata: { annotations: annotationsOf(certificate) },
        data: { "ca.crt": Buffer.from(trustPem).toString("base64") },
      };
      return [certificate, { name: secretName, state: "ours" as const, live: live as never, pair }] as const;
    }),
  );
  return { ...withCa, certificates: new Map(certificates) };
}

test("leaves that are as they should be are left alone until the first is due", async () => {
  const decision = decideLane(certificatesLane, aSeen({ material: await material(await aCa()) }), now);
  expect(decision).toMatchObject({ rule: "allValid", actions: [], outcome: { kind: "settled" } });
});

test("[search/SC-30] a CA that was made again, same name, other key: every leaf is issued again", async () => {
  const seen = aSeen({ material: await material(await aCa(), await aCa()) });
  const decision = decideLane(certificatesLane, seen, now);
  expect(decision.rule).toBe("issueLeaves");
  expect(
    decision.actions.map((action) => ("certificate" in action ? action.certificate : action.kind)),
  ).toEqual(["transport", "http", "admin"]);
});

describe("the annotation renew-certificates", () => {
  const base = aSearchCluster();
  const requested = (value: string | undefined): SearchCluster => ({
    ...base,
    requests: { ...base.requests, renewCertificates: value },
  });
  const all = ["transport", "http", "admin"];
  test.for<
    [
      string,
      {
        readonly requested: string | undefined;
        readonly issuedFor: Readonly<Record<string, string>>;
        readonly want: readonly string[];
        readonly renewed: string | undefined;
      },
    ]
  >([
    ["no one asks", { requested: undefined, issuedFor: {}, want: [], renewed: "before" }],
    ["a first value", { requested: "monday", issuedFor: {}, want: all, renewed: "before" }],
    [
      "the operator died after one of them",
      { requested: "monday", issuedFor: { transport: "monday" }, want: ["http", "admin"], renewed: "before" },
    ],
    [
      "all were issued for it",
      {
        requested: "monday",
        issuedFor: { transport: "monday", http: "monday", admin: "monday" },
        want: [],
        renewed: "monday",
      },
    ],
    [
      "another value",
      {
        requested: "tuesday",
        issuedFor: { transport: "monday", http: "monday", admin: "monday" },
        want: all,
        renewed: "before",
      },
    ],
    [
      "taken away again",
      {
        requested: undefined,
        issuedFor: { transport: "monday", http: "monday", admin: "monday" },
        want: [],
        renewed: "before",
      },
    ],
  ])("%s", async ([, { requested: value, issuedFor, want, renewed }]) => {
    const signer = await aCa();
    const seen = aSeen({
      cluster: requested(value),
      material: await material(signer, signer, (certificate) => {
        const position = issuedFor[certificate];
        return position === undefined ? {} : { "search.quartermaster.dev/renewed": position };
      }),
      status: { certificates: { renewed: "before" } },
    });
    const { actions } = decideLane(certificatesLane, seen, now);
    expect(actions.map((action) => ("certificate" in action ? action.certificate : action.kind))).toEqual(
      want,
    );
    for (const action of actions) expect(action).toMatchObject({ requested: value });
    expect(renewedValue(seen)).toBe(renewed);
  });
});

describe("the certificate of a standalone stack", () => {
  const stackCertificate = (state: "missing" | "foreign"): [CertificateName, CertificateFact] => [
    "monitoring",
    { name: "logs-monitoring-cert", state, live: undefined, pair: undefined },
  ];

  test("is issued for the names of its Services, and valid on a port-forward", async () => {
    const whole = await material(await aCa());
    const seen = aSeen({
      material: { ...whole, certificates: new Map([...whole.certificates, stackCertificate("missing")]) },
    });
    const { actions } = decideLane(certificatesLane, seen, now);
    expect(actions).toMatchObject([
      {
        kind: "issueCertificate",
        certificate: "monitoring",
        secretName: "logs-monitoring-cert",
        usages: ["server"],
      },
    ]);
    const { dnsNames } = wantedCertificates(seen).find(({ certificate }) => certificate === "monitoring") ?? {
      dnsNames: [],
    };
    expect(dnsNames).toEqual(
      expect.arrayContaining([
        "logs-prometheus.team.svc",
        "logs-alertmanager.team.svc",
        "logs-grafana.team.svc",
        "localhost",
      ]),
    );
  });

  test("is not issued into a Secret of another client's, which keeps no other one from being renewed", async () => {
    const whole = await material(await aCa(), await aCa());
    const seen = aSeen({
      material: { ...whole, certificates: new Map([...whole.certificates, stackCertificate("foreign")]) },
    });
    const decision = decideLane(certificatesLane, seen, now);
    expect(decision.rule).toBe("issueLeaves");
    expect(
      decision.actions.map((action) => ("certificate" in action ? action.certificate : action.kind)),
    ).toEqual(["transport", "http", "admin"]);
  });
});

test.for(["foreign", "kept", "missing"] as const)("a CA that is %s is never signed with", async (state) => {
  const whole = await material(await aCa());
  const seen = aSeen({ material: { ...whole, ca: { ...whole.ca, state, pair: undefined } } });
  const decision = decideLane(certificatesLane, seen, now);
  expect(decision.actions.map((action) => action.kind)).not.toContain("issueCertificate");
  expect(decision.rule).toBe({ foreign: "foreignSecret", kept: "takeOver", missing: "makeRoots" }[state]);
});

test("a running cluster that lost its CA gets no other one", async () => {
  const whole = await material(await aCa());
  const lost = { ...whole, ca: { ...whole.ca, state: "missing" as const, pair: undefined } };
  const decision = decideLane(certificatesLane, aSeen({ material: lost, status: { clusterUuid: "U" } }), now);
  expect(decision).toMatchObject({
    rule: "authorityLost",
    actions: [],
    outcome: { kind: "stalled", why: { reason: "AuthorityLost" } },
  });
});

test("[search/SC-128] certificates name Services in the domain of this Kubernetes cluster", () => {
  const namesIn = (changes: Partial<SearchCluster>): readonly string[] =>
    wantedCertificates({ cluster: aSearchCluster(changes), material: aMaterial() }).flatMap(
      ({ dnsNames }) => dnsNames,
    );
  expect(namesIn({})).toContain("logs.team.svc.cluster.local");
  const own = namesIn({ clusterDomain: "k8s.example" });
  expect(own).toEqual(
    expect.arrayContaining(["logs.team.svc.k8s.example", "*.logs-nodes.team.svc.k8s.example"]),
  );
  expect(own.filter((name) => name.endsWith("cluster.local"))).toEqual([]);
});
