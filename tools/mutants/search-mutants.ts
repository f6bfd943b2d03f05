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

/** Of what registers and sets, deregisters and resets entries of the engine, and of where they may lead. */
const entryMutants: readonly Mutant[] = mutantsOf(
  {
    topic: "entries",
    package: "search",
    level: "unit",
    tests: ["decide-entries", "repository-issues", "repositories-lane"],
  },
  [
    {
      name: "an entry that somebody changed is taken away",
      find: 'if (!record.digests.includes(has)) return { name, act: "left" };',
      replace: "",
    },
    {
      name: "an entry of somebody else is taken away when it is no longer declared",
      find: 'if (record.foreign === true || has === undefined) return { name, act: "nothing" };',
      replace: 'if (has === undefined) return { name, act: "nothing" };',
    },
    {
      name: "a repository of somebody else is taken for ours",
      find: 'if (has !== undefined && !overwritesForeign) return { ...kept("conflict", record), name };',
      replace: "",
    },
    {
      name: "a repository that somebody changed is overwritten",
      find: 'if (!isOurs && !overwritesForeign) return kept("conflict", record);',
      replace: "",
    },
    {
      name: "an entry is written before it is recorded",
      find: 'if (record.digests.includes(want)) return kept("put", { name, digests: record.digests });',
      replace: 'if (want !== "") return kept("put", { name, digests: record.digests });',
    },
    {
      name: "the form that the engine has is pushed out of the record",
      find: "...(has !== undefined && digests.includes(has) ? [has] : []), next];",
      replace: "next];",
    },
    {
      name: "a repository is done before it was tried out",
      find: "(verified === true || foreign === true || !isVerified),",
      replace: "(verified !== false || foreign === true || !isVerified),",
    },
    {
      name: "what is not known is empty",
      find: "answer: ({ engine: { repositories } }) =>\n    repositories.isKnown\n",
      replace: "answer: ({ engine: { repositories } }) =>\n    repositories !== undefined\n",
    },
    {
      name: "a cluster that was founded anew keeps the record of the old one",
      find: 'digestOf({ uuid: uuid ?? "", type, settings })',
      replace: 'digestOf({ uuid: uuid === undefined ? "" : "x", type, settings })',
    },
    {
      name: "a pattern reaches addresses inside the network",
      find: "return !isInner(place.host) && place.host.endsWith(entry.host.slice(1));",
      replace: "return place.host.endsWith(entry.host.slice(1));",
    },
    {
      name: "a host that only ends like an allowed one is allowed",
      find: "place.host.endsWith(entry.host.slice(1));",
      replace: "place.host.endsWith(entry.host.slice(2));",
    },
    {
      name: "an administrator's list reaches the metadata service",
      find: "if (neverReached(host))",
      replace: "if (host === undefined)",
    },
    {
      name: "TLS is not asked for",
      find: "if (entry.scheme !== place.scheme || portOf(entry) !== portOf(place)) return false;",
      replace: "if (entry.port !== place.port) return false;",
    },
    {
      name: "a folder leaves path.repo",
      find: "const full = posix.resolve(first, location);",
      replace: "const full = posix.isAbsolute(location) ? location : `${first}/${location}`;",
    },
    {
      name: "one name reaches several repositories",
      find: "return /^[A-Za-z0-9][A-Za-z0-9._-]{0,252}$/.test(name);",
      replace: "return /^[A-Za-z0-9*][A-Za-z0-9._,-]{0,252}$/.test(name);",
    },
  ],
);

/** Of what founds, brings back, grows and deletes search clusters. */
export const searchMutants: readonly Mutant[] = [
  ...nodeMutants,
  ...entryMutants,
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
        find: "return Math.max(pool.replicas, currentReplicas(seen, pool), retainedReplicas(seen, pool));",
        replace: "return Math.max(pool.replicas, retainedReplicas(seen, pool));",
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
