import { type Mutant, mutantsOf } from "./mutant.ts";

const suite = { topic: "operation", package: "search", level: "unit" } as const;

/** What only the model of crash, stale reads and other writers can notice. */
const modelMutants: readonly Mutant[] = mutantsOf({ ...suite, tests: ["operation-model"] }, [
  {
    name: "an operation ends upon an old sample",
    find: '      { do: "verifyReleased", node },\n',
    replace: "",
  },
  {
    name: "what is done was not decided again",
    find: "return decideLane(nodesLane, live, now).actions.some((each) => isDeepStrictEqual(each, action));",
    replace: "return live !== undefined && now !== undefined && action !== undefined;",
  },
]);

/** Of what restarts, repairs and removes nodes of a search cluster. Each is an accident that some operator has had. */
export const operationMutants: readonly Mutant[] = [
  ...modelMutants,
  ...mutantsOf({ ...suite, tests: ["restart", "removal", "repair-broken", "quorum-after", "allocation"] }, [
    {
      name: "a majority is half of the voters",
      find: "return Math.floor(voters / 2) + 1;",
      replace: "return Math.ceil(voters / 2);",
    },
    {
      name: "the vote of a lone voter need not be moved",
      find: 'if (outcome !== "survivesIfMoved") return undefined;',
      replace: 'if (outcome !== "lost") return undefined;',
    },
    {
      name: "a vote is moved although nobody can agree to it",
      find: "return hasQuorumNow && isVoter &&",
      replace: "return isVoter &&",
    },
    {
      name: "nodes that are down count as up",
      find: "isUp: member !== undefined && pod?.isReady === true && !pod.isTerminating,",
      replace: "isUp: pod?.isReady === true && !pod.isTerminating,",
    },
    {
      name: "a terminating pod counts as up",
      find: "isUp: member !== undefined && pod?.isReady === true && !pod.isTerminating,",
      replace: "isUp: member !== undefined && pod?.isReady === true,",
    },
    {
      name: "a second node may be down",
      find: "if (down.length === 0) return undefined;",
      replace: "if (down.length <= 1) return undefined;",
    },
    {
      name: "only declared nodes count as others",
      find: "(node.isWanted || node.hasPlace || node.pod !== undefined) && !node.isUp,",
      replace: "node.isWanted && !node.isUp && node.hasPlace && node.pod === undefined,",
    },
    {
      name: "a lost quorum does not speak against a restart",
      find: "[nobodyElseDown, quorumSurvives, ...aboutShards, allocationOpen, electedLast]",
      replace: "[nobodyElseDown, ...aboutShards, allocationOpen, electedLast]",
    },
    {
      name: "shards are not looked at before a restart",
      find: "const aboutShards = drains ? [] : [copiesElsewhere, ephemeralOnlyCopy, settled];",
      replace: "const aboutShards = drains ? [] : [settled];",
    },
    {
      name: "a restart on top of a recovery",
      find: "const aboutShards = drains ? [] : [copiesElsewhere, ephemeralOnlyCopy, settled];",
      replace: "const aboutShards = drains ? [] : [copiesElsewhere, ephemeralOnlyCopy];",
    },
    {
      name: "unknown facts speak against nothing",
      find: "return fact.isKnown ? [] : [`${name} (${fact.why})`];",
      replace: "return fact.isKnown || fact.why !== undefined ? [] : [name];",
    },
    {
      name: "the shard table may be unknown",
      find: 'const needed = ["health", "nodes", "coordination", "shards", "settings"] as const;',
      replace: 'const needed = ["health", "nodes", "coordination", "settings"] as const;',
    },
    {
      name: "copies that have not started count",
      find: 'if (state !== "INITIALIZING") startedOn.add(node);',
      replace: "startedOn.add(node);",
    },
    {
      name: "a copy of its own counts as a copy elsewhere",
      find: "return new Set(nodes.filter((node) => node.isUp && node.name !== name).map((node) => node.name));",
      replace:
        "return new Set(nodes.filter((node) => node.isUp).map((node) => node.name + name.slice(name.length)));",
    },
    {
      name: "an emptyDir is as good as a volume",
      find: "if (!node.isEphemeral || !node.isData) return undefined;",
      replace: "if (node.isEphemeral || !node.isData) return undefined;",
    },
    {
      name: "yellow without end blocks a roll for ever",
      find: "unassigned > 0 && heldBy.size < dataNodes);",
      replace: "unassigned > 0 && heldBy.size <= dataNodes);",
    },
    {
      name: "the elected manager goes first",
      find: "if (node.isElected) return 9;",
      replace: "if (node.isElected) return 0;",
    },
    {
      name: "managers restart before data nodes",
      find: "if (node.isManager) return 8;",
      replace: "if (node.isManager) return 1;",
    },
    {
      name: "low ordinals first",
      find: "rank(one) - rank(other) || one.pool.localeCompare(other.pool) || other.ordinal - one.ordinal,",
      replace:
        "rank(one) - rank(other) || one.pool.localeCompare(other.pool) || one.ordinal - other.ordinal,",
    },
    {
      name: "allocation is not frozen before a restart",
      find: "if (settings.isKnown && allocation.isFrozenBy(settings.value, operation.id)) return undefined;",
      replace:
        "if (settings.isKnown && allocation.isFrozenBy(settings.value, operation.id) !== undefined) return undefined;",
    },
    {
      name: "frozen by anybody counts",
      find: 'return settings.persistent[marks.frozenBy] === operation && effective(settings, enableKey) === "primaries";',
      replace: 'return operation !== "" && effective(settings, enableKey) === "primaries";',
    },
    {
      name: "a pod that is not outdated any more is restarted all the same",
      find: "if (!node.isOutdated || !node.hasPlace || isGoing || !mayDisrupt(seen, now))",
      replace: "if (!node.hasPlace || isGoing || !mayDisrupt(seen, now))",
    },
    {
      name: "a refused restart goes on",
      find: "if (refusals.length > 0) return withdraws(seen, operation);",
      replace: "if (refusals.length > 9) return withdraws(seen, operation);",
    },
    {
      name: "another pod of the name is deleted",
      find: "if (node?.pod?.uid === operation.podUid)",
      replace: "if (node?.pod !== undefined)",
    },
    {
      name: "the next node is taken while this one is away",
      find: "const isBack = node === undefined || node.isUp || isGivenUp(operation, node, now);",
      replace:
        "const isBack = node === undefined || node.isUp || isGivenUp(operation, node, now) || !node.isElected;",
    },
    {
      name: "allocation stays frozen however long a pod is away",
      find: "actions: now.getTime() - since < backPatienceMs ? [] : undoing(seen, operation),",
      replace: "actions: now.getTime() - since < 9 * backPatienceMs ? [] : undoing(seen, operation),",
    },
    {
      name: "a restart ends with allocation frozen",
      find: "  return isUndone(seen, operation)\n    ? undefined",
      replace: "  return isBack\n    ? undefined",
    },
    {
      name: "an exclusion of votes is left behind",
      find: "    engine.coordination.isKnown &&\n    !engine.coordination.value.exclusions.includes(node)",
      replace: '    engine.coordination.isKnown && node !== ""',
    },
    {
      name: "broken pods wait for health",
      find: "if (restarts >= mostCrashes)",
      replace: "if (restarts >= 3 * mostCrashes)",
    },
    {
      name: "pods that are as declared are repaired",
      find: "if (pod === undefined || pod.isTerminating || !isOutdated || isUp) return false;",
      replace: "if (pod === undefined || pod.isTerminating || isUp) return false;",
    },
    {
      name: "a member is repaired",
      find: "if (isMemberOrUnknown(node, seen) || brokenBecause(pod, now) === undefined) return false;",
      replace: "if (brokenBecause(pod, now) === undefined) return false;",
    },
    {
      name: "a broken pod's emptyDir is given up",
      find: "return seen.engine.shards.isKnown && ephemeralOnlyCopy(node, world) === undefined;",
      replace: "return seen.engine.shards.isKnown || ephemeralOnlyCopy(node, world) === undefined;",
    },
    {
      name: "nodes that are declared are removed",
      find: "const surplus = nodes.filter(({ isWanted, hasPlace }) => !isWanted && hasPlace);",
      replace: "const surplus = nodes.filter(({ hasPlace }) => hasPlace);",
    },
    {
      name: "the lowest ordinal is removed",
      find: "(one, other) => one.pool.localeCompare(other.pool) || other.ordinal - one.ordinal,\n  )[0];",
      replace: "(one, other) => one.pool.localeCompare(other.pool) || one.ordinal - other.ordinal,\n  )[0];",
    },
    {
      name: "a drain is begun for which there is no room",
      find: "heldBy.has(node.name) && !fitted.has(index) && count > left,",
      replace: "heldBy.has(node.name) && !fitted.has(index) && count > left + 1,",
    },
    {
      name: "indices that the engine fits by itself block every removal",
      find: "heldBy.has(node.name) && !fitted.has(index) && count > left,",
      replace: "heldBy.has(node.name) && count > left,",
    },
    {
      name: "full disks do not refuse a removal",
      find: "if (used + own.storeBytes <= fullestShare * total) return undefined;",
      replace: "if (used <= fullestShare * total) return undefined;",
    },
    {
      name: "the last manager is removed",
      find: "const left = nodes.filter((other) => other.isManager && other.isWanted && other.isUp);",
      replace: "const left = nodes.filter((other) => other.isManager && other.isUp);",
    },
    {
      name: "an empty table counts as an empty node",
      find: "return Math.max(rows, load.shards, load.documents > 0 ? 1 : 0);",
      replace: "return rows;",
    },
    {
      name: "a node that is away counts as empty",
      find: "if (!node.isMember) return rows === 0 && isComplete(engine) ? 0 : undefined;",
      replace: "if (!node.isMember) return rows === 0 ? 0 : undefined;",
    },
    {
      name: "unknown counts as empty",
      find: "if (!engine.shards.isKnown || !engine.nodeLoad.isKnown || !engine.nodes.isKnown) return undefined;",
      replace: "if (!engine.nodeLoad.isKnown) return engine.shards.isKnown ? 0 : undefined;",
    },
    {
      name: "seen empty once is enough",
      find: "return emptySince(operation, now) >= sureAfterMs",
      replace: "return emptySince(operation, now) >= 0",
    },
    {
      name: "a node that has shards again still counts as seen empty",
      find: 'return awaitsStep(held, "Drain",',
      replace: 'return awaitsStep(operation, "Drain",',
    },
    {
      name: "a manager is removed that still votes",
      find: "if (exclusions.includes(node.name) && !voters.includes(node.name)) return undefined;",
      replace: "if (exclusions.includes(node.name) || !voters.includes(node.name)) return undefined;",
    },
    {
      name: "a place is taken without the intent",
      find: 'if (operation.step !== "Shrink") return intends({ ...operation, step: "Shrink" });',
      replace: "",
    },
    {
      name: "a node that is declared again is removed all the same",
      find: 'return node.isWanted || isAnother || operation.step === "Release" || hasJoinedSince(operation, subject);',
      replace: 'return isAnother || operation.step === "Release" || hasJoinedSince(operation, subject);',
    },
    {
      name: "a drain is never given up",
      find: "return now.getTime() - Date.parse(progressedAt) >= drainPatienceMs;",
      replace: "return now.getTime() - Date.parse(progressedAt) >= 9 * drainPatienceMs;",
    },
    {
      name: "any claim of the name is deleted",
      find: "if (volume.uid !== claimUid || !markedFor(volume, clusterUuid)) return false;",
      replace: "if (!markedFor(volume, clusterUuid) || claimUid === undefined) return false;",
    },
    {
      name: "a claim that was not emptied is deleted",
      find: "return drains || !volume.holdsData;",
      replace: "return drains || volume.holdsData;",
    },
    {
      name: "claims are deleted whatever the author says",
      find: 'if ((pool?.whenScaled ?? cluster.whenPoolRemoved) !== "Delete") return undefined;',
      replace: "",
    },
    {
      name: "a claim is deleted while the health is red",
      find: 'const isHealthy = engine.health.isKnown && engine.health.value.status !== "red";',
      replace: "const isHealthy = engine.health.isKnown;",
    },
    {
      name: "a pool goes while it has nodes",
      find: "!declared.has(name) && spec.replicas === 0 && !seen.pods.some((pod) => pod.pool === name),",
      replace: "!declared.has(name) && !seen.pods.some((pod) => pod.pool === name && pod.isReady),",
    },
    {
      name: "entries of others are lost with ours",
      find: '{ [excludeKey]: [...names, node].join(",") }),',
      replace: "{ [excludeKey]: node, ...(names.length > 99 ? {} : {}) }),",
    },
    {
      name: "ours is written where it has no effect",
      find: 'return typeof settings.transient[key] === "string" ? "transient" : "persistent";',
      replace:
        'return key === "" && typeof settings.transient[key] === "string" ? "transient" : "persistent";',
    },
  ]),
];
