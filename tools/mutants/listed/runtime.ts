import { type ListedMutant, listOf } from "./listed-mutant.ts";

/** Of queue, store, watch, election, fence and reconcile. */
export const runtimeMutants: readonly ListedMutant[] = listOf("runtime", [
  [
    "a raised key keeps its low priority",
    'if (priority === "normal" && entry.priority === "low")',
    'if (priority === "low" && entry.priority === "low")',
  ],
  ["added while worked on is lost", "return entry.remember(priority);", "return false;"],
  ["low priority starves", "this.#normalInRow >= lowTurnEvery", "this.#normalInRow >= 1_000 * lowTurnEvery"],
  [
    "namespaces do not take turns",
    "let lane = this.#lanes.get(namespace);",
    'let lane = this.#lanes.get("");',
  ],
  [
    "the back-off does not grow",
    "firstMs * 2 ** Math.min(failures, 60)",
    "firstMs * 1 ** Math.min(failures, 60)",
  ],
  [
    "goes back to an older version",
    "return order > 0 || (order < 0 && this.#acceptsOlder);",
    "return order !== 0;",
  ],
  [
    "an object missing from the picture stays",
    "[...(this.#unseen ?? [])].flatMap",
    "[...(this.#unseen ?? [])].slice(1).flatMap",
  ],
  [
    "indexes keep the old value",
    "this.#indexes.move(key, old, object);",
    "if (old === undefined) this.#indexes.move(key, old, object);",
  ],
  [
    "a forgotten version is watched again",
    'return { state: "listing", pause: "relist" };',
    'return { state, pause: "relist" };',
  ],
  [
    "no pause after an early end",
    'return isEarly ? "reconnect" : "none";',
    'return isEarly ? "none" : "none";',
  ],
  [
    "a bookmark of another sort ends the list",
    "else if (endsInitial) this.#complete(resourceVersion);",
    'else if (endsInitial || resourceVersion !== "") this.#complete(resourceVersion);',
  ],
  ["a lively stream counts as silent", "if (remainingMs > 0) {", "if (remainingMs > 1_000_000_000) {"],
  [
    "a 410 inside a page is no end",
    'this.#hasExpired = usesPages && ending.kind === "gone";',
    "this.#hasExpired = false;",
  ],
  [
    "takes the lease too early",
    "const untilMs = seen.sinceMs + durationMsOf(seen.lease, settings);",
    "const untilMs = seen.sinceMs + settings.renewDeadlineMs;",
  ],
  [
    "a holder ignores its successor",
    "return seen?.lease !== undefined && holderOf(seen.lease) !== identity;",
    'return seen?.lease !== undefined && holderOf(seen.lease) === "";',
  ],
  [
    "an unchanged lease counts as renewed",
    "return isSameLease(one, other) && deepEqual(one.spec, other.spec);",
    "return isSameLease(one, other) && one.spec === other.spec;",
  ],
  [
    "a reconcile that is within its time is broken off",
    "if (reconcile.dueMs > nowMs) {",
    "if (reconcile.dueMs > nowMs + this.#limitMs) {",
  ],
  [
    "the end of a term breaks off reconciles of the next",
    "if (reconcile.term === term) reconcile.breakOff(term.reason);",
    "if (term.aborted) reconcile.breakOff(term.reason);",
  ],
  [
    "the finalizer goes although clean-up stalled",
    'if (end.outcome.kind === "settled")',
    'if (end.outcome.kind !== "waiting")',
  ],
  [
    "the finalizer goes although clean-up waits",
    'if (end.outcome.kind === "settled")',
    'if (end.outcome.kind !== "stalled")',
  ],
  [
    "finalizers of others are removed",
    ".filter((other) => other !== finalizer)",
    '.filter((other) => other === "")',
  ],
  [
    "works without its finalizer",
    'return hasOwnerLabels ? "active" : "needsFinalizer";',
    'return hasOwnerLabels ? "active" : "active";',
  ],
  [
    "works on what is being deleted",
    "if (metadata.deletionTimestamp === undefined) return hasOwnerLabels",
    'if (metadata.deletionTimestamp !== "") return hasOwnerLabels',
  ],
  [
    "a held object reads as reconciling",
    "reconciling: isFalse(outcome.why), stalled: isFalse(inProgress)",
    "reconciling: isTrue(outcome.why), stalled: isFalse(inProgress)",
  ],
  [
    "a stalled object reads as ready",
    "return { ready: isFalse(outcome.why), reconciling: isFalse(atRest), stalled: isTrue(outcome.why) };",
    "return { ready: isTrue(outcome.why), reconciling: isFalse(atRest), stalled: isTrue(outcome.why) };",
  ],
  ["a refused object is tried for ever", '    next: "stay",\n', '    next: "backOff",\n'],
  [
    "the server's delay is ignored",
    "const atLeastMs = error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0;",
    "const atLeastMs = error instanceof ApiError ? 0 : 0;",
  ],
  [
    "a lane that waits counts less than one that is held",
    '["settled", "held", "waiting", "stalled"].indexOf(kind)',
    '["settled", "waiting", "held", "stalled"].indexOf(kind)',
  ],
  [
    "the timer of a lane is lost",
    'return { kind: "waiting", why: outcome.why, retryAfterMs: delayMs };',
    "return outcome;",
  ],
  [
    "a clean-up that waits is not reported",
    'return stage === "active" || (stage === "deleting" && outcome.kind !== "settled");',
    'return stage === "active" || (stage === "deleting" && outcome.kind === "stalled");',
  ],
]);
