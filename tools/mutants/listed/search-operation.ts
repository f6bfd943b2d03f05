import { type ListedMutant, listOf } from "./listed-mutant.ts";

/** Of restart, removal and repair of nodes. */
export const searchOperationMutants: readonly ListedMutant[] = listOf("search", [
  [
    "what is done was not decided again",
    "return decideLane(nodesLane, live, now).actions.some((each) => isDeepStrictEqual(each, action));",
    "return live !== undefined && now !== undefined && action !== undefined;",
  ],
  ["a majority is half of the voters", "return Math.floor(voters / 2) + 1;", "return Math.ceil(voters / 2);"],
  [
    "the vote of a lone voter need not be moved",
    'if (outcome !== "survivesIfMoved") return undefined;',
    'if (outcome !== "lost") return undefined;',
  ],
  [
    "a second node may be down",
    "if (down.length === 0) return undefined;",
    "if (down.length <= 1) return undefined;",
  ],
  [
    "only declared nodes count as others",
    "(node.isWanted || node.hasSlot || node.pod !== undefined) && !node.isUp,",
    "node.isWanted && !node.isUp && node.hasSlot && node.pod === undefined,",
  ],
  [
    "shards are not looked at before a restart",
    "const aboutShards = drains ? [] : [copiesElsewhere, ephemeralOnlyCopy, settled];",
    "const aboutShards = drains ? [] : [settled];",
  ],
  [
    "unknown facts speak against nothing",
    "return fact.isKnown ? [] : [`${name} (${fact.why})`];",
    "return fact.isKnown || fact.why !== undefined ? [] : [name];",
  ],
  [
    "copies that have not started count",
    'if (state !== "INITIALIZING") startedOn.add(node);',
    "startedOn.add(node);",
  ],
  [
    "a copy of its own counts as a copy elsewhere",
    "return new Set(nodes.filter((node) => node.isUp && node.name !== name).map((node) => node.name));",
    "return new Set(nodes.filter((node) => node.isUp).map((node) => node.name + name.slice(name.length)));",
  ],
  ["the elected manager goes first", "if (node.isElected) return 9;", "if (node.isElected) return 0;"],
  ["managers restart before data nodes", "if (node.isManager) return 8;", "if (node.isManager) return 1;"],
  [
    "low ordinals first",
    "rank(one) - rank(other) || one.pool.localeCompare(other.pool) || other.ordinal - one.ordinal,",
    "rank(one) - rank(other) || one.pool.localeCompare(other.pool) || one.ordinal - other.ordinal,",
  ],
  [
    "allocation is not frozen before a restart",
    "if (settings.isKnown && allocation.isFrozenBy(settings.value, operation.id)) return undefined;",
    "if (settings.isKnown && allocation.isFrozenBy(settings.value, operation.id) !== undefined) return undefined;",
  ],
  [
    "frozen by any client counts",
    "settings.persistent[operationKeys.frozenBy] === operation &&",
    'operation !== "" &&',
  ],
  [
    "a refused restart continues",
    "if (refusals.length > 0) return withdraws(seen, operation);",
    "if (refusals.length > 9) return withdraws(seen, operation);",
  ],
  [
    "another pod of the name is deleted",
    "if (node?.pod?.uid === operation.podUid)",
    "if (node?.pod !== undefined)",
  ],
  [
    "the next node is taken while this one is away",
    "const isBack = node === undefined || node.isUp || isGivenUp(operation, node, now);",
    "const isBack = node === undefined || node.isUp || isGivenUp(operation, node, now) || !node.isElected;",
  ],
  [
    "allocation stays frozen however long a pod is away",
    "actions: now.getTime() - since < backTimeoutMs ? [] : undoing(seen, operation),",
    "actions: now.getTime() - since < 9 * backTimeoutMs ? [] : undoing(seen, operation),",
  ],
  [
    "a restart ends with allocation frozen",
    "  return isUndone(seen, operation)\n    ? undefined",
    "  return isBack\n    ? undefined",
  ],
  [
    "an exclusion of votes is left behind",
    "    engine.coordination.isKnown &&\n    !engine.coordination.value.exclusions.includes(node)",
    '    engine.coordination.isKnown && node !== ""',
  ],
  ["broken pods wait for health", "if (restarts >= mostCrashes)", "if (restarts >= 3 * mostCrashes)"],
  [
    "a broken pod's emptyDir is given up",
    "return seen.engine.shards.isKnown && ephemeralOnlyCopy(node, state) === undefined;",
    "return seen.engine.shards.isKnown || ephemeralOnlyCopy(node, state) === undefined;",
  ],
  [
    "nodes that are declared are removed",
    "const surplus = nodes.filter(({ isWanted, hasSlot }) => !isWanted && hasSlot);",
    "const surplus = nodes.filter(({ hasSlot }) => hasSlot);",
  ],
  [
    "the lowest ordinal is removed",
    "(one, other) => one.pool.localeCompare(other.pool) || other.ordinal - one.ordinal,\n  )[0];",
    "(one, other) => one.pool.localeCompare(other.pool) || one.ordinal - other.ordinal,\n  )[0];",
  ],
  [
    "a drain is begun for which there is no room",
    "heldBy.has(node.name) && !fitted.has(index) && count > left,",
    "heldBy.has(node.name) && !fitted.has(index) && count > left + 1,",
  ],
  [
    "unknown counts as empty",
    "if (!engine.shards.isKnown || !engine.nodeLoad.isKnown || !engine.nodes.isKnown) return undefined;",
    "if (!engine.nodeLoad.isKnown) return engine.shards.isKnown ? 0 : undefined;",
  ],
  [
    "a node that has shards again still counts as seen empty",
    'return awaitsStep(held, "Drain",',
    'return awaitsStep(operation, "Drain",',
  ],
  [
    "a manager is removed that still votes",
    "if (exclusions.includes(node.name) && !voters.includes(node.name)) return undefined;",
    "if (exclusions.includes(node.name) || !voters.includes(node.name)) return undefined;",
  ],
  [
    "a drain is never given up",
    "return now.getTime() - Date.parse(progressedAt) >= drainTimeoutMs;",
    "return now.getTime() - Date.parse(progressedAt) >= 9 * drainTimeoutMs;",
  ],
  [
    "any claim of the name is deleted",
    "if (volume.uid !== claimUid || !belongsToEngine(volume, clusterUuid)) return false;",
    "if (!belongsToEngine(volume, clusterUuid) || claimUid === undefined) return false;",
  ],
  [
    "a pool goes while it has nodes",
    "!declared.has(name) && spec.replicas === 0 && !seen.pods.some((pod) => pod.pool === name),",
    "!declared.has(name) && !seen.pods.some((pod) => pod.pool === name && pod.isReady),",
  ],
  [
    "entries of others are lost with ours",
    '{ [excludeKey]: [...names, node].join(",") }),',
    "{ [excludeKey]: node, ...(names.length > 99 ? {} : {}) }),",
  ],
  [
    "ours is written where it has no effect",
    'return typeof settings.transient[key] === "string" ? "transient" : "persistent";',
    'return key === "" && typeof settings.transient[key] === "string" ? "transient" : "persistent";',
  ],
  [
    "a node that can go is restarted first",
    "const isGoing = !node.isWanted && removeNodes.decide(seen, now) !== undefined;",
    "const isGoing = false;",
  ],
  [
    "any rule of the engine makes a copy impossible",
    "deciders.some((rule) => lastingRules.has(rule) && ",
    "deciders.some((rule) => rule !== undefined && ",
  ],
  [
    "a copy that no one was asked about is impossible",
    "if (explanation === undefined || explanation.nodes.length === 0) return false;",
    "if (explanation === undefined || explanation.nodes.length === 0) return engine.explanations.isKnown;",
  ],
  [
    "an explanation of one shard counts for all of its index",
    "return explanations.value.find((each) => each.index === index && each.shard === shard);",
    "return explanations.value.find((each) => each.index === index && shard >= 0);",
  ],
  [
    "TLS is switched under running nodes",
    "const known = modes.length > 0 ? modes : templates;",
    "const known = templates.length > 0 ? templates : modes;",
  ],
  [
    "nodes restart outside of the author's windows",
    "if (!isDisruptionWanted(seen) || mayDisrupt(seen, now)) return undefined;",
    "if (!isDisruptionWanted(seen) || !mayDisrupt(seen, now)) return undefined;",
  ],
  [
    "a node that came back empty is removed while its copies are still being made",
    "...(node.isData ? [settled] : [])];",
    "...(node.isData && node.isElected ? [settled] : [])];",
  ],
  [
    "a held cluster has its operation frozen",
    "const open = seen.status.operation === undefined ? [] : [heldNodesLane];",
    "const open: readonly SearchLane[] = [];",
  ],
  [
    "a paused cluster continues its operation",
    "const lanesWhilePaused: readonly SearchLane[] = [heldNodesLane, certificatesLane, protectionLane];",
    "const lanesWhilePaused: readonly SearchLane[] = [nodesLane, certificatesLane, protectionLane];",
  ],
  [
    "a removal is withdrawn by a store that is behind",
    'if (operation.step !== "Shrink") return decision;',
    "if (operation.step !== undefined) return decision;",
  ],
  [
    "a node that is away by our hand is reported as it flickers",
    'away: operation?.step === "Await" ? operation.node : undefined,',
    'away: operation?.step === "Release" ? operation.node : undefined,',
  ],
  [
    "health that gets worse is held back",
    "return healths.indexOf(now) < healths.indexOf(before) ? before : now;",
    "return healths.indexOf(now) !== healths.indexOf(before) ? before : now;",
  ],
]);
