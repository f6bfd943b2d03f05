import { type Mutant, mutantsOf } from "./mutant.ts";

const suite = { topic: "search-ownership", package: "search", level: "unit" } as const;

/** Of what decides whose volumes and objects of a search cluster are, and whether they may be deleted. */
export const ownershipMutants: readonly Mutant[] = mutantsOf(
  { ...suite, tests: ["mounted-claims", "handover", "cluster-deletion", "protection-lane"] },
  [
    {
      name: "a claim without owner labels is mounted",
      find: "if (owner === undefined || labels[markLabels.uid] === undefined)",
      replace: "if (owner !== undefined && labels[markLabels.uid] === undefined)",
    },
    {
      name: "a claim of another cluster is mounted",
      find: "if (owner !== cluster.name) return",
      replace: "if (owner === undefined) return",
    },
    {
      name: "a claim of another pool is mounted",
      find: "if (labels[markLabels.pool] !== pool) return",
      replace: "if (labels[markLabels.pool] === undefined) return",
    },
    {
      name: "data of the other distribution is opened",
      find: "if (writer !== distribution) return",
      replace: "if (writer === undefined) return",
    },
    {
      name: "data of another version is opened",
      find: "return isEmpty || written === releaseOf(version)",
      replace: 'return isEmpty || written !== ""',
    },
    {
      name: "a store that is behind decides whether a cluster is founded",
      find: "if (unsettled.length === 0) return undefined;",
      replace: "if (unsettled.length >= 0) return undefined;",
    },
    {
      name: "a superseded object deletes what it has not handed over",
      find: "if (leftToHeir === undefined) return undefined;",
      replace: "if (leftToHeir === undefined || leftToHeir.length > 0) return undefined;",
    },
    {
      name: "a superseded object goes before everything is handed over",
      find: "if (leftToHeir.length === 0) return done();",
      replace: "if (leftToHeir.length >= 0) return done();",
    },
    {
      name: "an object that another controls is taken over",
      find: "ownerReferences.every(({ controller }) => controller !== true)",
      replace: "ownerReferences.length >= 0",
    },
    {
      name: "a second object is a way around the protection",
      find: "if (predecessor.isDeletionProtected && !cluster.isDeletionProtected) return unprotected();",
      replace: "",
    },
    {
      name: "objects change hands before what was decided",
      find: "isDecided(predecessor.status) && !isDecided(status) ? [] :",
      replace: "isDecided(predecessor.status) && isDecided(status) && status.phase === undefined ? [] :",
    },
    {
      name: "volumes of a protected cluster are deleted",
      find: " || cluster.isDeletionProtected\n",
      replace: "\n",
    },
    {
      name: "protection is never lifted",
      find: "each.isProtected !== cluster.isDeletionProtected &&",
      replace: "each.isProtected < cluster.isDeletionProtected &&",
    },
  ],
);
