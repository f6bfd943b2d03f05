import { type ListedMutant, listOf } from "./listed-mutant.ts";

/** Of install plans. */
export const installPlanMutants: readonly ListedMutant[] = listOf("install-plan", [
  [
    "repairs a paused plan",
    "if (!seen.plan.spec.paused) return undefined;",
    "if (!seen.plan.spec.paused || seen.plan.status?.finishedAt !== undefined) return undefined;",
  ],
  [
    "a stage never times out",
    "stageElapsedMs > stage.timeoutSeconds * 1000;",
    "stageElapsedMs > stage.timeoutSeconds * 1_000_000;",
  ],
  ["namespaces after what is in them", "? 0 : 1;", "? 0 : 0;"],
  [
    "writes of later stages",
    ".filter(({ member }) => member.stageIndex <= stageIndex)\n",
    ".filter(({ member }) => member.stageIndex >= 0)\n",
  ],
  [
    "an object on its way out is written",
    "if (live?.metadata.deletionTimestamp === undefined) return undefined;",
    "if (live !== null) return undefined;",
  ],
  [
    "forgets plans while something is amiss",
    'return { phase: "Degraded", outcome: outcomes[actor] };',
    'return { phase: "Degraded", actions: forgotten(seen), outcome: outcomes[actor] };',
  ],
  [
    "the pause of a revert conflict does not grow",
    "shortestPauseMs * 2 ** (inWindow.length - allowed - 1)",
    "shortestPauseMs * 1 ** (inWindow.length - allowed - 1)",
  ],
  [
    "a revert conflict is never forgotten",
    "nowMs - atMs < conflictMemoryMs",
    "nowMs - atMs < 1_000 * conflictMemoryMs",
  ],
  [
    "an ignored path hides its neighbours",
    "return path === ignored || path.startsWith(`${ignored}/`);",
    "return path.startsWith(ignored);",
  ],
  [
    "additions count without Strict",
    'member.lifecycle.revert === "Strict" ? additionsTo(live, member) : []',
    'member.lifecycle.revert !== "Off" ? additionsTo(live, member) : []',
  ],
  [
    "an annotated object is reverted",
    'exception?.kind !== "active" && hasDrifted(drift)',
    "hasDrifted(drift)",
  ],
  ["an exception never ends", "return untilMs > wallMs ? { kind", "return untilMs > 0 ? { kind"],
  [
    "annotations are additions",
    'outside(fields, ["/metadata", "/status", ...ignorePaths])',
    'outside(fields, ["/status", ...ignorePaths])',
  ],
  [
    "rolls back although switched off",
    'const isWanted = plan.spec.replaces?.onFailure === "Rollback";',
    "const isWanted = plan.spec.replaces !== undefined;",
  ],
  [
    "rolls back to a plan that is gone",
    '({ plan: before, state }) => before !== undefined && state === "Releasing",',
    '({ state }) => state === "Releasing",',
  ],
  [
    "a replaced plan continues to write",
    "const { successor } = seen.replacement;\n  if (successor === undefined) return undefined;",
    "const { successor } = seen.replacement;\n  if (successor === undefined || seen.plan.status?.startedAt !== undefined) return undefined;",
  ],
  [
    "a stranger takes over",
    "names.filter((_name, index) => responses[index] !== true)",
    "names.filter((_name, index) => responses[index] === undefined)",
  ],
  ["historyLimit keeps one more", ".slice(plan.spec.historyLimit)", ".slice(plan.spec.historyLimit + 1)"],
  [
    "the finalizer goes although the operator may not look",
    "if (isLettingGo(seen)) return letGo(seen, unseen);",
    "if (unseen !== undefined) return letGo(seen, unseen);",
  ],
  [
    "objects count as gone before their watch has shown them",
    "if (!isPending) return undefined;",
    "if (isPending || !isPending) return undefined;",
  ],
  [
    "earlier stages do not wait for a silent API",
    "if (first === undefined || turnOf(seen.remaining) >= turnOf(awaited)) return undefined;",
    "if (first === undefined || turnOf(seen.remaining) >= -1) return undefined;",
  ],
  [
    "an account made again under the name is trusted",
    'if (account === "present") return undefined;',
    'if (account !== "missing") return undefined;',
  ],
  [
    "labels alone bring restored objects back",
    'if (restore === "given") return isProven(live)',
    "if (restore !== undefined) return isProven(live)",
  ],
  [
    "adopts what another plan owns",
    'lifecycle.adoption !== "Never" : lifecycle.adoption === "Always"',
    'lifecycle.adoption !== "Never" : lifecycle.adoption !== "Never"',
  ],
  [
    "adopts although adoption is off",
    'lifecycle.adoption !== "Never" : lifecycle.adoption === "Always"',
    'lifecycle.adoption !== undefined : lifecycle.adoption === "Always"',
  ],
  ["leftovers are not previewed", "...deletedOf(leftovers).map(", "...deletedOf(leftovers).slice(1).map("],
  [
    "starts while the server is undecided",
    "if (preflight === undefined || preflight.undecided.length === 0) return undefined;",
    "if (preflight === undefined || preflight.undecided.length > 0) return undefined;",
  ],
  [
    "one name counts as all names",
    "return resourceNames.length === 0 || (name !== undefined && resourceNames.includes(name));",
    "return resourceNames.length === 0 || name === undefined || resourceNames.includes(name);",
  ],
  ["an aggregated role gives nothing", "isAggregated ? everything : (", "isAggregated ? [] : ("],
  [
    "a digest alone is an approval",
    'if (!approved) return "missing";',
    'if (!approved && plan.spec.approvedPreview === undefined) return "missing";',
  ],
  [
    "content is not compared with its digest",
    "if (digestOf(resolved.value) === spec.sha256) return resolved;",
    'if (spec.sha256 !== "") return resolved;',
  ],
  ["lists of any depth", "if (levelsLeft === 0) return", "if (levelsLeft === -9) return"],
  [
    "a list holds other kinds",
    'if (expected === "" || kind === undefined || kind === expected) return undefined;',
    'if (expected === "" || kind === undefined || kind !== "") return undefined;',
  ],
  [
    "labels of the operator are taken",
    ".filter((key) => key.startsWith(ownLabels))",
    ".filter((key) => key === ownLabels)",
  ],
  ["copies that differ are dropped", "issues: unlike.flatMap(", "issues: unlike.slice(1).flatMap("],
  [
    "a byte order mark is read",
    'if (text.startsWith("\\u{FEFF}")) {',
    'if (text.startsWith("\\u{FEFF}\\u{FEFF}")) {',
  ],
  ["faults of missing content are reported", "...(isWhole ? leaningIssues(", "...(!isWhole ? leaningIssues("],
  [
    "a policy that fails open guards",
    'metadata.name === policyName && spec?.failurePolicy === "Fail",',
    "metadata.name === policyName && spec !== undefined,",
  ],
  [
    "a binding of any namespace guards",
    'return isByName && matchLabels["kubernetes.io/metadata.name"] === namespace;',
    "return isByName && namespace !== undefined;",
  ],
  [
    "a job without a controller never times out",
    "> spec.timeoutSeconds * 1000 + graceMs;",
    "> spec.timeoutSeconds * 1_000_000 + graceMs;",
  ],
  [
    "a failed Job too few is kept",
    'state === "TimedOut" ? attempt : attempt - 1;',
    'state === "TimedOut" ? attempt - 1 : attempt - 1;',
  ],
  [
    "Jobs of others are deleted",
    "      isOwnJob(job, plan),\n",
    "      isOwnJob(job, plan) !== undefined,\n",
  ],
  [
    "valid without a check",
    "const isKnown = hasStarted(seen.plan) || isDecided;",
    "const isKnown = hasStarted(seen.plan) || !isDecided;",
  ],
  [
    "tells which namespaces exist",
    'isAllowed || reason !== "NamespaceMissing"',
    "isAllowed || reason !== undefined",
  ],
  [
    "superseded before it is over",
    "(successor.isDone || !hasStarted(plan));",
    "(!successor.isDone || !hasStarted(plan));",
  ],
  [
    "an object that another client made in between is taken",
    "return { written, isIntrusion: current === undefined && !isNew };",
    "return { written, isIntrusion: false };",
  ],
  [
    "an orphaned object keeps its owner labels",
    "labels: Object.fromEntries(ownLabels.map((label) => [label, null])),",
    "",
  ],
]);
