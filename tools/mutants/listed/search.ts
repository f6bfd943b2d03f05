import { type ListedMutant, listOf } from "./listed-mutant.ts";

/** Of search clusters, without operations and auto-scaling. */
export const searchMutants: readonly ListedMutant[] = listOf("search", [
  [
    "a node that does not say counts as done",
    "isProven: nodes.length > 0 && current.length === nodes.length,",
    "isProven: nodes.length > 0 && current.length > 0 && written !== undefined,",
  ],
  [
    "the layer between nodes is not looked at",
    "? isHttpStale\n      : served.transportEndMs !== transport.validity.notAfterMs;",
    "? isHttpStale\n      : isHttpStale && served.transportEndMs !== transport.validity.notAfterMs;",
  ],
  [
    "a cluster grows beyond an enforced license",
    "if (grantedNodes === undefined || declared <= grantedNodes || grown.length === 0) return undefined;",
    "if (grantedNodes === undefined || grown.length >= 0) return undefined;",
  ],
  [
    "a pool is made beyond an enforced license",
    "return cluster.pools.filter(({ name }) => sets.has(name));",
    "return sets.size === 0 ? [] : cluster.pools;",
  ],
  [
    "an entry is written before it is recorded",
    'if (record.digests.includes(want)) return kept("put", { name, digests: record.digests });',
    'if (want !== "") return kept("put", { name, digests: record.digests });',
  ],
  [
    "what is not known is empty",
    "return repositories.isKnown ? planRepositories(seen, repositories.value) : undefined;",
    "return planRepositories(seen, repositories.isKnown ? repositories.value : []);",
  ],
  [
    "a cluster that was founded again keeps the record of the old one",
    'digestOf({ uuid: uuid ?? "", type, settings })',
    'digestOf({ uuid: uuid === undefined ? "" : "x", type, settings })',
  ],
  [
    "a host that only ends like an allowed one is allowed",
    "location.host.endsWith(entry.host.slice(1));",
    "location.host.endsWith(entry.host.slice(2));",
  ],
  [
    "an administrator's list reaches the metadata service",
    "if (neverReached(host))",
    "if (host === undefined)",
  ],
  [
    "TLS is not asked for",
    "if (entry.scheme !== location.scheme || portOf(entry) !== portOf(location)) return false;",
    "if (entry.port !== location.port) return false;",
  ],
  [
    "a directory is outside path.repo",
    "const full = posix.resolve(first, location);",
    "const full = posix.isAbsolute(location) ? location : `${first}/${location}`;",
  ],
  [
    "one name reaches several repositories",
    "return /^[A-Za-z0-9][A-Za-z0-9._-]{0,252}$/.test(name);",
    "return /^[A-Za-z0-9*][A-Za-z0-9._,-]{0,252}$/.test(name);",
  ],
  [
    "a new cluster is founded without consent to exactly this UUID",
    'if (acceptNewCluster === given) return { mode: "Found", acceptedNewCluster: given };',
    'if (acceptNewCluster !== undefined) return { mode: "Found", acceptedNewCluster: given };',
  ],
  [
    "half of the founders are enough",
    "uuids.length > nodes.length / 2 &&",
    "uuids.length >= nodes.length / 2 - 1 &&",
  ],
  [
    "two clusters among the nodes go unnoticed",
    "if (uuids.size < 2) return undefined;",
    "if (uuids.size < 3) return undefined;",
  ],
  [
    "the list of founders stays after formation",
    'if (seen.bootstrapList !== "filled") return undefined;',
    'if (seen.bootstrapList !== "absent") return undefined;',
  ],
  [
    "a volume that was made again counts as the old one",
    ": volumes.find(({ node }) => node === name)?.uid !== pvcUid,",
    ": !volumes.some(({ node }) => node === name),",
  ],
  [
    "a node is added on a volume of another cluster",
    ".filter(({ engineUuid }) => engineUuid !== undefined && engineUuid !== clusterUuid);",
    ".filter(() => false);",
  ],
  [
    "fewer replicas are carried out without a drain",
    "return Math.max(pool.replicas, currentReplicas(seen, pool), retainedReplicas(seen, pool));",
    "return Math.max(pool.replicas, retainedReplicas(seen, pool));",
  ],
  [
    "a cluster that comes back leaves nodes behind",
    "return Math.max(0, ...ordinals.map((ordinal) => ordinal + 1));",
    "return Math.max(0, ...ordinals);",
  ],
  [
    "volumes go while pods still write to them",
    "    remaining.length === 0\n",
    "    remaining.length >= 0\n",
  ],
  [
    "an orphaned cluster is deleted",
    '? done(kept.map(({ kind, name, uid }) => ({ kind: "release", resource: kind, name, uid })))',
    "? undefined",
  ],
  [
    "a foreign Secret is used",
    'const foreign = all.filter(({ state }) => state === "foreign").map(({ name }) => name);',
    "const foreign: readonly string[] = [];",
  ],
  [
    "a claim without owner labels is mounted",
    "if (owner === undefined || labels[ownerLabels.uid] === undefined)",
    "if (owner !== undefined && labels[ownerLabels.uid] === undefined)",
  ],
  [
    "a claim of another cluster is mounted",
    "if (owner !== cluster.name) return",
    "if (owner === undefined) return",
  ],
  [
    "a claim of another pool is mounted",
    "if (labels[ownerLabels.pool] !== pool) return",
    "if (labels[markLabels.pool] === undefined) return",
  ],
  [
    "data of the other distribution is opened",
    "if (writer !== distribution) return",
    "if (writer === undefined) return",
  ],
  [
    "data of another version is opened",
    "return isEmpty || written === releaseOf(version)",
    'return isEmpty || written !== ""',
  ],
  [
    "a store that is behind decides whether a cluster is founded",
    "if (unsettled.length === 0) return undefined;",
    "if (unsettled.length >= 0) return undefined;",
  ],
  [
    "a superseded object deletes what it has not handed over",
    "if (leftToHeir === undefined) return undefined;",
    "if (leftToHeir === undefined || leftToHeir.length > 0) return undefined;",
  ],
  [
    "a superseded object goes before everything is handed over",
    "if (leftToHeir.length === 0) return done();",
    "if (leftToHeir.length >= 0) return done();",
  ],
  [
    "an object that another controls is taken over",
    "ownerReferences.every(({ controller }) => controller !== true)",
    "ownerReferences.length >= 0",
  ],
  [
    "objects change hands before what was decided",
    "isDecided(predecessor.status) && !isDecided(status) ? [] :",
    "isDecided(predecessor.status) && isDecided(status) && status.phase === undefined ? [] :",
  ],
  [
    "protection is never lifted",
    "each.isProtected !== cluster.isDeletionProtected &&",
    "each.isProtected < cluster.isDeletionProtected &&",
  ],
  [
    "a license that another client uploaded by hand counts as lost",
    "  return uid === running.uid ? clusterLicense : undefined;",
    '  return uid === running.uid ? (clusterLicense ?? "") : undefined;',
  ],
  [
    "a license whose ClusterLicense is there counts as lost",
    "const isDeleted = seen.license.clusterLicense === undefined;",
    "const isDeleted = seen.license.wanted === undefined;",
  ],
  [
    "an ended license makes way for basic although another one is there",
    "  return wanted !== undefined && wanted.uid !== running.uid && wanted.expiryMs > now.getTime();",
    "  return wanted === undefined && wanted === null;",
  ],
  [
    "basic is started under whatever runs by now",
    "    if (before.uid !== from.uid)\n",
    "    if (before.uid === undefined)\n",
  ],
  [
    "basic is started although the license is back",
    "if (from.isLost && (await isBack(from.uid)))",
    "if (from.isLost && !(await isBack(from.uid)) && from.uid === undefined)",
  ],
]);
