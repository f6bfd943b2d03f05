import { mutantsOf, type Mutant } from "./mutant.ts";

/** What a reconcile decides: finalizers, status, failures, lanes, ownership. */
export const reconcileMutants: readonly Mutant[] = [
  ...mutantsOf({ topic: "deletion", package: "runtime", level: "unit", tests: ["reconcile-"] }, [
    {
      name: "the finalizer goes although clean-up stalled",
      find: 'if (end.outcome.kind === "settled")',
      replace: 'if (end.outcome.kind !== "waiting")',
    },
    {
      name: "the finalizer goes although clean-up waits",
      find: 'if (end.outcome.kind === "settled")',
      replace: 'if (end.outcome.kind !== "stalled")',
    },
    {
      name: "finalizers of others are removed",
      find: ".filter((other) => other !== finalizer)",
      replace: '.filter((other) => other === "")',
    },
    {
      name: "finalizers of others are overwritten",
      find: "finalizers: [...(object.metadata.finalizers ?? []), finalizer],",
      replace: "finalizers: [finalizer],",
    },
    {
      name: "a finalizer on a changed object",
      find: "const body = { metadata: { uid, resourceVersion, finalizers } };",
      replace: "const body = { metadata: { uid, finalizers } };",
    },
    {
      name: "cleans up for a finalizer that is not ours",
      find: 'return isMarked && finalizer !== undefined ? "deleting" : "finalized";',
      replace: 'return isMarked ? "deleting" : "finalized";',
    },
    {
      name: "works without its finalizer",
      find: 'return isMarked ? "active" : "needsFinalizer";',
      replace: 'return isMarked ? "active" : "active";',
    },
    {
      name: "works on what is being deleted",
      find: "if (metadata.deletionTimestamp === undefined) return isMarked",
      replace: 'if (metadata.deletionTimestamp !== "") return isMarked',
    },
  ]),
  ...mutantsOf({ topic: "status", package: "runtime", level: "unit", tests: ["reconcile-"] }, [
    {
      name: "the transition time moves without a change",
      find: "const lastTransitionTime = before?.status === condition.status ? before.lastTransitionTime : now;",
      replace: "const lastTransitionTime = now;",
    },
    {
      name: "a held object reads as reconciling",
      find: "reconciling: isFalse(outcome.why), stalled: isFalse(inProgress)",
      replace: "reconciling: isTrue(outcome.why), stalled: isFalse(inProgress)",
    },
    {
      name: "a stalled object reads as ready",
      find: "return { ready: isFalse(outcome.why), reconciling: isFalse(atRest), stalled: isTrue(outcome.why) };",
      replace:
        "return { ready: isTrue(outcome.why), reconciling: isFalse(atRest), stalled: isTrue(outcome.why) };",
    },
    {
      name: "speaks of a generation that was not worked on",
      find: "return generation === undefined ? fresh : { ...fresh, metadata: { ...fresh.metadata, generation } };",
      replace: "return fresh;",
    },
    {
      name: "written to another object of the same name",
      find: "if (fresh === undefined || fresh.metadata.uid !== object.metadata.uid) return false;",
      replace: "if (fresh === undefined) return false;",
    },
    {
      name: "conditions of the domain are dropped",
      find: ".filter(({ type }) => ownTypes.includes(type) && !updates.some((update) => update.type === type))",
      replace:
        ".filter(({ type }) => ownTypes.includes(type) && updates.some((update) => update.type === type))",
    },
    {
      name: "written although nothing changed",
      find: "if (this.#isCurrent(current, wanted)) return false;",
      replace: "",
    },
  ]),
  ...mutantsOf({ topic: "failure", package: "runtime", level: "unit", tests: ["reconcile-"] }, [
    {
      name: "values of a Secret in the status",
      find: 'error.class === "invalid" ? withoutValues(error) : error.message',
      replace: "error.message",
    },
    {
      name: "a refused object is tried for ever",
      find: '    next: "stay",\n',
      replace: '    next: "backOff",\n',
    },
    {
      name: "another owner's field is a passing conflict",
      find: 'return causes.includes("FieldManagerConflict") ? reasons.fieldConflict : undefined;',
      replace: "return undefined;",
    },
    {
      name: "the server's delay is ignored",
      find: "const atLeastMs = error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0;",
      replace: "const atLeastMs = error instanceof ApiError ? 0 : 0;",
    },
  ]),
  ...mutantsOf({ topic: "rules", package: "runtime", level: "unit", tests: ["reconcile-"] }, [
    {
      name: "a lane that waits counts less than one that is held",
      find: '["settled", "held", "waiting", "stalled"].indexOf(kind)',
      replace: '["settled", "waiting", "held", "stalled"].indexOf(kind)',
    },
    {
      name: "the timer of a lane is lost",
      find: 'return { kind: "waiting", why: outcome.why, retryAfterMs: delayMs };',
      replace: "return outcome;",
    },
    {
      name: "an edit waits until an interim step ends",
      find: "if (isInterim !== true || !isLatest(object)) return end;",
      replace: "if (isInterim !== true) return end;",
    },
    {
      name: "actions go on after a failure",
      find: "if (failures.length > 0 || system.monotonicMs() > endMs) return;",
      replace: "if (system.monotonicMs() > endMs) return;",
    },
  ]),
  ...mutantsOf({ topic: "ownership", package: "runtime", level: "unit", tests: ["apply-"] }, [
    {
      name: "an object of another owner is taken",
      find: "if (live !== undefined && !isOurs) throw nameTaken(kind, live);",
      replace: "",
    },
    {
      name: "an owner of the same name is ours",
      find: "return controller !== undefined && controller.uid === owner.metadata.uid;",
      replace: "return controller !== undefined;",
    },
  ]),
];
