import { type Mutant, mutantsOf } from "./mutant.ts";

/** Of what decides to delete, release or forget when a plan is deleted. */
export const deletionMutants: readonly Mutant[] = mutantsOf(
  { topic: "deletion", package: "install-plan", level: "unit", tests: ["deletion-"] },
  [
    {
      name: "a plan that was replaced deletes its successor's objects",
      find: 'const ownsNothing = !hasStarted(plan) || plan.status?.phase === "Superseded";',
      replace: "const ownsNothing = !hasStarted(plan);",
    },
    {
      name: "the finalizer goes although the operator may not look",
      find: "if (isLettingGo(seen)) return letGo(seen, unseen);",
      replace: "if (unseen !== undefined) return letGo(seen, unseen);",
    },
    {
      name: "objects count as gone before their watch has shown them",
      find: "if (!isPending) return undefined;",
      replace: "if (isPending || !isPending) return undefined;",
    },
    {
      name: "objects behind a silent API count as gone",
      find: "const count = seen.remaining.length + awaitedOf(seen).length;",
      replace: "const count = seen.remaining.length;",
    },
    {
      name: "a request to orphan is forgotten",
      find: "if (!isOrphanRequested || plan.status?.deletion?.orphan === true) return undefined;",
      replace: "if (isOrphanRequested || plan.status?.deletion?.orphan === true) return undefined;",
    },
    {
      name: "earlier stages do not wait for a silent API",
      find: "if (first === undefined || turnOf(seen.remaining) >= turnOf(awaited)) return undefined;",
      replace: "if (first === undefined || turnOf(seen.remaining) >= -1) return undefined;",
    },
    {
      name: "an account made again under the name is trusted",
      find: 'if (account === "present") return undefined;',
      replace: 'if (account !== "missing") return undefined;',
    },
    {
      name: "a refusal does not keep the finalizer",
      find: "return failure === undefined ? undefined : unauthorized(seen, failure.message);",
      replace: "return undefined;",
    },
    {
      name: "a namespace that goes is held up",
      find: 'return plan.spec.deletion.ifUnauthorized === "Orphan" || isNamespaceTerminating;',
      replace: 'return plan.spec.deletion.ifUnauthorized === "Orphan";',
    },
    {
      name: "a plan that has had its time waits for a silent API",
      find: "return isOverdue || isNamespaceTerminating ? [] : unanswered;",
      replace: "return isNamespaceTerminating ? [] : unanswered;",
    },
    {
      name: "what is to be orphaned is deleted",
      find: "return plan.status?.deletion?.orphan === true || isOverdue;",
      replace: "return isOverdue;",
    },
    {
      name: "objects of a plan that has had its time are deleted, not released",
      find: "return plan.status?.deletion?.orphan === true || isOverdue;",
      replace: "return plan.status?.deletion?.orphan === true;",
    },
    {
      name: "Jobs run on while their objects go",
      find: "if (!isReleasing && runningJobs.length > 0)",
      replace: "if (isReleasing && runningJobs.length > 0)",
    },
    {
      name: "all stages go at once",
      find: ".filter((entry) => deletionRank(entry) === rank)",
      replace: "",
    },
    {
      name: "objects go in the order in which they were made",
      find: "    .toReversed()\n",
      replace: "",
    },
    {
      name: "what the lifecycle keeps is deleted",
      find: 'isKept: isReleasing || lifecycle.cleanup === "Orphan" || protectedBy !== undefined,',
      replace: "isKept: isReleasing || protectedBy !== undefined,",
    },
    {
      name: "what holds data of others is deleted",
      find: 'isKept: isReleasing || lifecycle.cleanup === "Orphan" || protectedBy !== undefined,',
      replace: 'isKept: isReleasing || lifecycle.cleanup === "Orphan",',
    },
    {
      name: "what was asked for is asked for again",
      find: "if (seen.asked.has(uid) || (!isKept && deletionTimestamp !== undefined)) return false;",
      replace: "if (!isKept && deletionTimestamp !== undefined) return false;",
    },
    {
      name: "what is going is deleted again",
      find: "if (seen.asked.has(uid) || (!isKept && deletionTimestamp !== undefined)) return false;",
      replace: "if (seen.asked.has(uid)) return false;",
    },
    {
      name: "a refused release is answered by another try at once",
      find: 'return failure === undefined || (failure.action === "delete" && isLettingGo(seen));',
      replace: "return true;",
    },
    {
      name: "what may not be deleted is tried again instead of released",
      find: 'if (isKept || isRefused) return { kind: "release", plan, target };',
      replace: 'if (isKept) return { kind: "release", plan, target };',
    },
    {
      name: "custom resources go with their stage",
      find: "return isCustomResource ? beforeStages : stageIndex;",
      replace: "return stageIndex;",
    },
    {
      name: "a manifest made after the start proves an orphaning",
      find: "isBefore(metadata.creationTimestamp, startedAt) && named.get(metadata.name) === spec.sha256,",
      replace: "named.get(metadata.name) === spec.sha256,",
    },
    {
      name: "a manifest of other content proves an orphaning",
      find: "isBefore(metadata.creationTimestamp, startedAt) && named.get(metadata.name) === spec.sha256,",
      replace: "isBefore(metadata.creationTimestamp, startedAt),",
    },
    {
      name: "one manifest without owner is enough for an orphaning",
      find: "return claimed.length > 0 && !claimed.some(isOwned);",
      replace: "return claimed.length > 0 && !claimed.every(isOwned);",
    },
    {
      name: "a plan without manifests counts as orphaned",
      find: "return claimed.length > 0 && !claimed.some(isOwned);",
      replace: "return !claimed.some(isOwned);",
    },
  ],
);
