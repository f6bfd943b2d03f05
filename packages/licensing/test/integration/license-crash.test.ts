import { clusterLicense, licenseAssociation } from "@quartermaster/api/licensing";
import { secrets } from "@quartermaster/runtime/kinds";
import {
  eventually,
  isWritePoint,
  type OperatorProcess,
  type SeenRequest,
  startFaultProxy,
  startOperator,
} from "@quartermaster/testkit";
import { expect, test } from "vitest";

import { type LicenseBench, setUpBench } from "../support/license-bench.ts";

const kinds = ["crash-before", "crash-after-commit", "crash-after-answer"] as const;

interface Crash {
  /** Number of the write, from 1; 0 for none. */
  readonly point: number;
  readonly kind: (typeof kinds)[number];
}

function nthWrite(wanted: number): (request: SeenRequest) => boolean {
  let count = 0;
  return (request) => {
    if (!isWritePoint(request)) return false;
    count += 1;
    return count === wanted;
  };
}

/** What must be the same in the end, however often the operator died. */
async function endState({ client, team: namespace }: LicenseBench): Promise<unknown> {
  const [licenses, associations, signatures] = await Promise.all([
    client.listPage(clusterLicense.kind, { namespace }),
    client.listPage(licenseAssociation.kind, { namespace }),
    client.listPage(secrets, { namespace }),
  ]);
  return {
    licenses: licenses.items.map(({ metadata, spec }) => [metadata.name, spec.uid, spec.signatureRef.name]),
    associations: associations.items.map(({ metadata, spec, status }) => [
      metadata.name,
      spec.licenseRef.name,
      spec.licenseRef.uid,
      status?.state,
    ]),
    signatures: signatures.items.map(({ metadata, data }) => [metadata.name, Object.keys(data ?? {})]),
  };
}

interface Ordeal {
  readonly end: unknown;
  readonly writes: number;
}

/** A cluster gets a license, changes to a better one, and has a direct link beside it all the time. */
async function ordeal({ point, kind }: Crash): Promise<Ordeal> {
  await using bench = await setUpBench({ isOperating: false });
  await using proxy = await startFaultProxy({ upstream: bench.operatorAccess });
  const running: { current?: OperatorProcess } = {};
  if (point > 0) proxy.inject(nthWrite(point), { kind, kill: () => running.current?.kill() });
  await bench.createLicense("logs", { uid: "direct", type: "gold" });
  await bench.createEnterprise("e", [{ uid: "p1", daysLeft: 100 }]);
  await bench.createCluster("logs");
  const access = { ...proxy.access, token: bench.operatorAccess.token };
  await using operator = await startOperator(access, [
    "--domains",
    "licensing",
    "--license-namespace",
    bench.pool,
    "--watch-namespace",
    bench.team,
  ]);
  running.current = operator;
  let isFinished = false;
  const keeper = (async () => {
    if (point === 0) return;
    await operator.ended();
    if (!isFinished) operator.start();
  })();
  const platinum = (uid: string) => ({
    license: { uid, type: "platinum", expiryTime: "2099-01-01T00:00:00Z", state: "Applied" },
  });
  await bench.association("logs-license", ({ spec }) => spec.licenseRef.uid === "p1");
  await bench.report("logs", platinum("p1"));
  await bench.association("logs-license", ({ status }) => status?.appliedUid === "p1");
  await bench.createEnterprise("f", [{ uid: "p2", daysLeft: 300 }]);
  await bench.association("logs-license", ({ spec }) => spec.licenseRef.uid === "p2");
  await bench.report("logs", platinum("p2"));
  await bench.association(
    "logs-license",
    ({ status }) => status?.appliedUid === "p2" && status.state === "Applied",
  );
  await eventually(
    async (see) =>
      see((await bench.client.listPage(secrets, { namespace: bench.team })).items.length) === 1 || undefined,
  );
  await bench.until(
    clusterLicense.kind,
    { namespace: bench.team, name: "logs-pool" },
    ({ metadata }) =>
      metadata.annotations?.["license.k8s.elastic.co/signature-secrets"]?.split(",").length === 1,
  );
  isFinished = true;
  const end = await endState(bench);
  operator.kill();
  await keeper;
  return { end, writes: proxy.trace.filter((entry) => isWritePoint(entry)).length };
}

test(
  "killed at writes, every fourth here and all in the campaign: the end is the same and the direct link stays",
  { timeout: 900_000 },
  async () => {
    const undisturbed = await ordeal({ point: 0, kind: "crash-before" });
    expect(undisturbed.end).toMatchObject({
      licenses: [
        ["logs", "direct", "logs-signature"],
        ["logs-pool", "p2", expect.stringMatching(/^logs-pool-/)],
      ],
      associations: [["logs-license", "logs-pool", "p2", "Applied"]],
      signatures: [[expect.stringMatching(/^logs-pool-/), ["p2"]]],
    });
    const isCampaign = process.env["QM_CAMPAIGN"] === "1";
    const points = Array.from({ length: undisturbed.writes }, (_, at) => at + 1);
    const crashes = points
      .flatMap((point) => kinds.map((kind) => ({ point, kind })))
      .filter(
        ({ point, kind }) =>
          isCampaign || (point % 4 === 1 && kind === kinds[Math.floor(point / 4) % kinds.length]),
      );
    for (const crash of crashes)
      expect({ crash, end: (await ordeal(crash)).end }).toEqual({ crash, end: undisturbed.end });
    expect(crashes.length).toBeGreaterThan(2);
  },
);
