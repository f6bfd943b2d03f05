import { elasticsearchCluster } from "@quartermaster/api";
import { clusterLicense, licenseAssociation, LICENSING_GROUP } from "@quartermaster/api/licensing";
import { secrets } from "@quartermaster/runtime/kinds";
import type { Workload, WorkloadRun } from "@quartermaster/testkit";

import { type LicenseBench, setUpBench } from "./license-bench.ts";

/** A cluster gets a license of the pool, then a better one, then the pool is emptied: every write of the binding. */
export const licensingWorkload: Workload = {
  name: "license",
  exceptions: [
    {
      plans: /I5 at create secrets|I4-labels at delete secrets/,
      why: "licensing may not read Secrets: it knows its own by name, a digest of their content, and by the uid that the server named",
    },
    {
      plans: /I4-deleted at patch clusterlicenses logs-pool #2/,
      why: "the copy that was deleted named the Secret of the license before: that Secret goes with the cluster, its owner",
    },
  ],
  setUp: async () => {
    const bench = await setUpBench({ isOperating: false });
    const { team, pool, cluster, operatorAccess } = bench;
    return {
      api: cluster.api,
      operator: operatorAccess,
      aliases: { [team]: "team", [pool]: "pool" },
      primaryPaths: [
        `/apis/${LICENSING_GROUP}/v1alpha1/namespaces/${pool}/enterpriselicenses/e`,
        `/apis/${LICENSING_GROUP}/v1alpha1/namespaces/${pool}/enterpriselicenses/f`,
        `/apis/${LICENSING_GROUP}/v1alpha1/namespaces/${team}/elasticsearchclusters/logs`,
      ],
      operate: async (access) => await bench.operate({ access }),
      stop: async () => await bench.stop(),
      steps: stepsOf(bench),
      endState: async () => await endState(bench),
      isCleared: async () => await isCleared(bench),
      [Symbol.asyncDispose]: async () => await bench[Symbol.asyncDispose](),
    };
  },
};

function stepsOf(bench: LicenseBench): WorkloadRun["steps"] {
  const appliedUid = async (): Promise<string | undefined> => {
    const ref = { namespace: bench.team, name: "logs-license" };
    return (await bench.client.find(licenseAssociation.kind, ref))?.status?.appliedUid;
  };
  return [
    {
      name: "first license",
      act: async () => {
        await bench.createEnterprise("e", [{ uid: "p1", daysLeft: 100 }]);
        await bench.createCluster("logs");
      },
      isDone: async () => (await reportOffered(bench), (await appliedUid()) === "p1"),
    },
    {
      name: "better license",
      act: async () => {
        await bench.createEnterprise("f", [{ uid: "p2", daysLeft: 300 }]);
      },
      isDone: async () => (
        await reportOffered(bench),
        (await appliedUid()) === "p2" && (await signatures(bench)).length === 1
      ),
    },
    {
      name: "cluster deleted",
      act: async () => {
        await bench.client.delete(elasticsearchCluster.kind, { namespace: bench.team, name: "logs" });
      },
      isDone: async () => await isCleared(bench),
    },
  ];
}

/** The search domain's part: the engine accepts the license that the association names. */
async function reportOffered(bench: LicenseBench): Promise<void> {
  const ref = { namespace: bench.team, name: "logs-license" };
  const uid = (await bench.client.find(licenseAssociation.kind, ref))?.spec.licenseRef.uid;
  if (uid === undefined) return;
  const license = { uid, type: "platinum", expiryTime: "2099-01-01T00:00:00Z", state: "Applied" };
  await bench.report("logs", { capacity: { presentNodes: 1 }, license });
}

async function signatures({ client, team }: LicenseBench) {
  const { items } = await client.listPage(secrets, { namespace: team });
  return items;
}

async function endState(bench: LicenseBench): Promise<unknown> {
  const { client, team: namespace } = bench;
  const licenses = await client.listPage(clusterLicense.kind, { namespace });
  const associations = await client.listPage(licenseAssociation.kind, { namespace });
  return {
    licenses: licenses.items.map(({ metadata, spec }) => [metadata.name, spec.uid]),
    associations: associations.items.map(({ metadata, spec }) => [metadata.name, spec.licenseRef.uid]),
    signatures: (await signatures(bench)).map(({ data }) => Object.keys(data ?? {})),
  };
}

async function isCleared(bench: LicenseBench): Promise<boolean> {
  const ref = { namespace: bench.team, name: "logs" };
  if ((await bench.client.find(elasticsearchCluster.kind, ref)) !== undefined) return false;
  const end = await endState(bench);
  return JSON.stringify(end) === JSON.stringify({ licenses: [], associations: [], signatures: [] });
}
