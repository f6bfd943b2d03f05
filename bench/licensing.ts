import type { ElasticsearchCluster } from "@quartermaster/api";
import { type EnterpriseLicense, licenseTypes, SIGNATURE_SECRET_TYPE } from "@quartermaster/api/licensing";
import { type LicenseCandidate, rankCandidates, selectLicense } from "@quartermaster/license-selection";
import { explainLicenses, licensingSettings, type LicenseState } from "@quartermaster/licensing";
import type { Live } from "@quartermaster/runtime";
import type { Secret } from "@quartermaster/runtime/kinds";

import type { BenchOptions, Row, Section } from "./table.ts";

const dayMs = 86_400_000;
const nowMs = Date.UTC(2025, 5, 1);
const clusterCount = 2000;
const licenseCount = 200;

/** How long the choice of licenses takes, without a cluster: it is pure. */
export async function benchLicensing({ isQuick }: BenchOptions): Promise<Section> {
  const rounds = isQuick ? 3 : 9;
  const size = `${String(clusterCount)} clusters × ${String(licenseCount)} licenses`;
  const best = (round: () => void): string => bestOf(rounds, round);
  const rows: readonly Row[] = [
    { what: `selection, ${size}`, measured: best(selectForAll()), bar: "≤ 200 ms" },
    {
      what: "the same with all that comes before it, as in qm license explain",
      measured: best(explainAll(1)),
    },
    {
      what: `the same, in ${String(licenseCount)} pools that enforce their limits`,
      measured: best(explainAll(licenseCount)),
    },
  ];
  return await Promise.resolve({ title: `licensing, best of ${String(rounds)} rounds`, rows });
}

function bestOf(rounds: number, round: () => void): string {
  const times = Array.from({ length: rounds }, () => {
    const beforeMs = performance.now();
    round();
    return performance.now() - beforeMs;
  });
  return `${Math.min(...times).toFixed(0)} ms`;
}

function typeOf(at: number): (typeof licenseTypes)[number] {
  return licenseTypes[at % licenseTypes.length] ?? "gold";
}

function selectForAll(): () => void {
  const candidates = rankCandidates(
    Array.from({ length: licenseCount }, (_, at): LicenseCandidate => ({
      uid: `u${String(at)}`,
      source: "EnterpriseLicense licenses/pool",
      type: typeOf(at),
      startMs: nowMs - 100 * dayMs,
      expiryMs: nowMs + (31 + at) * dayMs,
      parent: { startMs: nowMs - 100 * dayMs, expiryMs: nowMs + 400 * dayMs },
    })),
  );
  return () => {
    for (let at = 0; at < clusterCount; at += 1)
      selectLicense({
        nowMs,
        candidates,
        cluster: {
          allowsDowngrade: false,
          onLoss: "Keep",
          minVersion: "8.19.0",
          transportTls: true,
          security: true,
          fips: false,
          current: { type: "missing", isActive: false },
          rejectedUids: new Set([`u${String(at % licenseCount)}`]),
        },
      });
  };
}

/** The licenses are in so many pools; with more than one each enforces its limit. */
function explainAll(pools: number): () => void {
  const state: LicenseState = {
    clusters: Array.from({ length: clusterCount }, (_, at) => clusterOf(at)),
    licenses: [],
    associations: [],
    namespaces: [],
    enterprise: Array.from({ length: pools }, (_, at) => poolOf(at, pools)),
    secrets: [signatures()],
  };
  return () => {
    explainLicenses(state, nowMs, licensingSettings);
  };
}

function clusterOf(at: number): Live<ElasticsearchCluster> {
  const object: unknown = {
    metadata: { name: `c${String(at)}`, namespace: `n${String(at % 100)}`, uid: `cluster-${String(at)}` },
    spec: { general: { version: "8.19.0" }, nodePools: [{ replicas: 3 }] },
    status: { engine: { transportTls: true, security: true, minVersion: "8.19.0" } },
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as much of a cluster as a choice reads
  return object as Live<ElasticsearchCluster>;
}

function poolOf(at: number, pools: number): Live<EnterpriseLicense> {
  const dates = { issueDate: nowMs - 100 * dayMs, issuedTo: "Example", issuer: "API" };
  const perPool = licenseCount / pools;
  const nested = Array.from({ length: perPool }, (_, which) => {
    const number = at * perPool + which;
    return {
      ...dates,
      uid: `u${String(number)}`,
      type: typeOf(number),
      expiryDate: nowMs + (31 + number) * dayMs,
      ...(typeOf(number) === "enterprise" ? { maxResourceUnits: 10 } : { maxNodes: 100 }),
    };
  });
  const object: unknown = {
    metadata: {
      name: `p${String(at)}`,
      namespace: licensingSettings.licenseNamespace,
      uid: `pool-${String(at)}`,
      resourceVersion: "1",
    },
    spec: {
      ...dates,
      uid: `outer-${String(at)}`,
      type: "enterprise",
      expiryDate: nowMs + 400 * dayMs,
      maxInstances: 10_000,
      signatureRef: { name: "signatures" },
      clusterLicenses: nested,
      ...(pools > 1 ? { capacityPolicy: { mode: "Enforce" } } : {}),
    },
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as much of a license as a choice reads
  return object as Live<EnterpriseLicense>;
}

/** One well-formed signature that no vendor made, for all licenses. */
function signatures(): Live<Secret> {
  const block = (length: number): Buffer => {
    const size = Buffer.alloc(4);
    size.writeInt32BE(length);
    return Buffer.concat([size, Buffer.alloc(length, 7)]);
  };
  const text = Buffer.concat([Buffer.from([0, 0, 0, 4]), block(13), block(32), block(256)]).toString(
    "base64",
  );
  const keys = ["outer", ...Array.from({ length: licenseCount }, (_, at) => `u${String(at)}`)];
  const object: unknown = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      name: "signatures",
      namespace: licensingSettings.licenseNamespace,
      uid: "s",
      resourceVersion: "1",
    },
    type: SIGNATURE_SECRET_TYPE,
    data: Object.fromEntries(keys.map((key) => [key, btoa(text)])),
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as much of a Secret as is read
  return object as Live<Secret>;
}
