import { type Mutant, mutantsOf } from "./mutant.ts";

/** Of how running nodes get renewed certificates, and of growth that a licence holds. */
const nodeMutants: readonly Mutant[] = mutantsOf(
  { topic: "search", package: "search", level: "unit", tests: ["served-leaves", "pools-lane"] },
  [
    {
      name: "all nodes read a certificate that none has served yet",
      find: "(current.length === 0 ? stale.slice(0, 1) : stale)",
      replace: "stale",
    },
    {
      name: "a node that does not say counts as done",
      find: "isProven: nodes.length > 0 && current.length === nodes.length,",
      replace: "isProven: nodes.length > 0 && current.length > 0 && written !== undefined,",
    },
    {
      name: "the layer between nodes is not looked at",
      find: "? isHttpStale\n      : served.transportEndMs !== transport.validity.notAfterMs;",
      replace:
        "? isHttpStale\n      : isHttpStale && served.transportEndMs !== transport.validity.notAfterMs;",
    },
    {
      name: "a cluster grows beyond an enforced licence",
      find: "if (grantedNodes === undefined || declared <= grantedNodes || grown.length === 0) return undefined;",
      replace: "if (grantedNodes === undefined || grown.length >= 0) return undefined;",
    },
    {
      name: "a pool is made beyond an enforced licence",
      find: "return cluster.pools.filter(({ name }) => sets.has(name));",
      replace: "return sets.size === 0 ? [] : cluster.pools;",
    },
  ],
);

/** Of what founds, brings back, grows and deletes search clusters. */
export const searchMutants: readonly Mutant[] = [
  ...nodeMutants,
  ...mutantsOf(
    {
      topic: "search",
      package: "search",
      level: "unit",
      tests: ["decide-bootstrap", "formation-lane", "cluster-deletion", "certificates-lane"],
    },
    [
      {
        name: "a cluster is founded over volumes of several clusters",
        find: 'if (uuids.length > 1) return refuseForeign(volumes, given, "volumes of several clusters are here");',
        replace: "",
      },
      {
        name: "a minority of the managers' volumes brings a cluster back",
        find: "const majority = Math.floor(all / 2) + 1;",
        replace: "const majority = Math.floor(all / 2);",
      },
      {
        name: "managers that are no longer declared count for the majority",
        find: "const present = managerVolumes.filter(({ node }) => managers.includes(node));",
        replace: "const present = managerVolumes;",
      },
      {
        name: "marked volumes may be founded upon",
        find: "mayFound: volumes.every((volume) => volume.engineUuid === undefined) && isExact };",
        replace: "mayFound: isExact };",
      },
      {
        name: "a new cluster is founded without consent to exactly this UUID",
        find: 'if (acceptNewCluster === given) return { mode: "Found", acceptedNewCluster: given };',
        replace: 'if (acceptNewCluster !== undefined) return { mode: "Found", acceptedNewCluster: given };',
      },
      {
        name: "half of the founders are enough",
        find: "uuids.length > nodes.length / 2 &&",
        replace: "uuids.length >= nodes.length / 2 - 1 &&",
      },
      {
        name: "two clusters among the nodes go unnoticed",
        find: "if (uuids.size < 2) return undefined;",
        replace: "if (uuids.size < 3) return undefined;",
      },
      {
        name: "the list of founders stays after formation",
        find: 'if (seen.bootstrapList !== "filled") return undefined;',
        replace: 'if (seen.bootstrapList !== "absent") return undefined;',
      },
      {
        name: "volumes of nodes that have not joined are marked",
        find: ".filter(({ node }) => nodes.has(node) && members.has(node))",
        replace: ".filter(({ node }) => nodes.has(node))",
      },
      {
        name: "a quorum is given up at once",
        find: "now.getTime() - Date.parse(since.lastTransitionTime) >= quorumPatienceMs;",
        replace: "now.getTime() - Date.parse(since.lastTransitionTime) >= 0;",
      },
      {
        name: "a volume that was made again counts as the old one",
        find: ": volumes.find(({ node }) => node === name)?.uid !== pvcUid,",
        replace: ": !volumes.some(({ node }) => node === name),",
      },
      {
        name: "pods start before their keys are there",
        find: "return isDecided && isArmed ? undefined",
        replace: "return isDecided ? undefined",
      },
      {
        name: "a node is added on a volume of another cluster",
        find: ".filter(({ engineUuid }) => engineUuid !== undefined && engineUuid !== clusterUuid);",
        replace: ".filter(() => false);",
      },
      {
        name: "fewer replicas are carried out without a drain",
        find: "Math.max(pool.replicas, currentReplicas(seen, pool), retainedReplicas(seen, pool)),",
        replace: "Math.max(pool.replicas, retainedReplicas(seen, pool)),",
      },
      {
        name: "a cluster that comes back leaves nodes behind",
        find: "return Math.max(0, ...ordinals.map((ordinal) => ordinal + 1));",
        replace: "return Math.max(0, ...ordinals);",
      },
      {
        name: "volumes are deleted although they are to be kept",
        find: 'cluster.whenDeleted === "Retain"',
        replace: 'cluster.whenDeleted !== "Retain"',
      },
      {
        name: "volumes go while pods still write to them",
        find: "    remaining.length === 0\n",
        replace: "    remaining.length >= 0\n",
      },
      {
        name: "an orphaned cluster is deleted",
        find: 'isOrphaned ? done(kept.map(({ kind, name, uid }) => ({ do: "release", kind, name, uid }))) : undefined,',
        replace: "isOrphaned ? undefined : undefined,",
      },
      {
        name: "a foreign Secret is used",
        find: 'const foreign = all.filter(({ state }) => state === "foreign").map(({ name }) => name);',
        replace: "const foreign: readonly string[] = [];",
      },
    ],
  ),
];
