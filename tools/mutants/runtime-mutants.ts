import { mutantsOf, type Mutant } from "./mutant.ts";

/** Queue, store, watch, election and fence. */
export const runtimeMutants: readonly Mutant[] = [
  ...mutantsOf({ topic: "queue", package: "runtime", level: "unit", tests: ["queue-"] }, [
    {
      name: "a raised key keeps its low priority",
      find: 'if (priority === "normal" && entry.priority === "low")',
      replace: 'if (priority === "low" && entry.priority === "low")',
    },
    {
      name: "added while worked on is lost",
      find: "return entry.remember(priority);",
      replace: "return false;",
    },
    {
      name: "a later appointment replaces an earlier one",
      find: 'if (entry.place === "ready" || entry.dueMs <= dueMs) return false;',
      replace: 'if (entry.place === "ready") return false;',
    },
    {
      name: "low priority starves",
      find: "this.#normalInRow >= lowTurnEvery",
      replace: "this.#normalInRow >= 1_000 * lowTurnEvery",
    },
    {
      name: "namespaces do not take turns",
      find: "let lane = this.#lanes.get(namespace);",
      replace: 'let lane = this.#lanes.get("");',
    },
    {
      name: "the back-off does not grow",
      find: "firstMs * 2 ** Math.min(failures, 60)",
      replace: "firstMs * 1 ** Math.min(failures, 60)",
    },
    { name: "a success does not end the back-off", find: "this.#failures.delete(key);", replace: "" },
    {
      name: "delayed keys in the wrong order",
      find: "parent.dueMs <= item.dueMs",
      replace: "parent.dueMs >= item.dueMs",
    },
    { name: "a key is worked on twice at a time", find: "entry.run();", replace: "" },
  ]),
  ...mutantsOf({ topic: "store", package: "runtime", level: "unit", tests: ["store-"] }, [
    {
      name: "goes back to an older version",
      find: "return order > 0 || (order < 0 && this.#acceptsOlder);",
      replace: "return order !== 0;",
    },
    {
      name: "a replayed event brings an object back",
      find: "if (this.#unseen === undefined) return !this.#tombstones.isBuried(key, version);",
      replace: "if (this.#unseen === undefined) return true;",
    },
    {
      name: "our write is hidden by an older event",
      find: "compareVersions(versionOf(written), version) > 0) {",
      replace: "compareVersions(versionOf(written), version) < 0) {",
    },
    {
      name: "an object missing from the picture stays",
      find: "[...(this.#unseen ?? [])].flatMap",
      replace: "[...(this.#unseen ?? [])].slice(1).flatMap",
    },
    {
      name: "a replayed deletion removes a newer object",
      find: "if (old !== undefined && compareVersions(version, versionOf(old)) < 0) return undefined;",
      replace: "",
    },
    {
      name: "versions are compared as text",
      find: "if (one.length !== other.length) return one.length - other.length;",
      replace: "",
    },
    {
      name: "indexes keep the old value",
      find: "this.#indexes.move(key, old, object);",
      replace: "if (old === undefined) this.#indexes.move(key, old, object);",
    },
    {
      name: "our write is noted after it was delivered",
      find: "if (compareVersions(version, this.#version) <= 0) return;",
      replace: "",
    },
  ]),
  ...mutantsOf({ topic: "watch", package: "runtime", level: "unit", tests: ["watch-"] }, [
    {
      name: "a forgotten version is watched again",
      find: 'return { state: "listing", pause: "relist" };',
      replace: 'return { state, pause: "relist" };',
    },
    {
      name: "no pause after an early end",
      find: 'return isEarly ? "reconnect" : "none";',
      replace: 'return isEarly ? "none" : "none";',
    },
    {
      name: "gone is an error like any other",
      find: 'if (error.class === "gone") return { kind: "gone" };',
      replace: "",
    },
    {
      name: "an older picture is taken",
      find: "if (!this.#acceptsOlder && compareVersions(version, this.#version) < 0) throw setBack(this.#decoding);",
      replace: "",
    },
    {
      name: "versions count while listing",
      find: 'if (this.#state !== "watching" || version === undefined) return;',
      replace: "if (version === undefined) return;",
    },
    {
      name: "a bookmark of another sort ends the list",
      find: "else if (endsInitial) this.#complete(resourceVersion);",
      replace: 'else if (endsInitial || resourceVersion !== "") this.#complete(resourceVersion);',
    },
    {
      name: "a lively stream counts as silent",
      find: "if (remainingMs > 0) {",
      replace: "if (remainingMs > 1_000_000_000) {",
    },
    {
      name: "a kind that is not served is an error",
      find: 'if (error.class === "notFound" && error.reason === kindNotServed) return { kind: "notServed" };',
      replace: "",
    },
    {
      name: "a 410 inside a page is no end",
      find: 'this.#hasExpired = usesPages && ending.kind === "gone";',
      replace: "this.#hasExpired = false;",
    },
  ]),
  ...mutantsOf({ topic: "election", package: "runtime", level: "unit", tests: ["leader-"] }, [
    {
      name: "acts at the very end of the lease",
      find: "return untilMs !== undefined && nowMs < untilMs;",
      replace: "return untilMs !== undefined && nowMs <= untilMs;",
    },
    {
      name: "takes the lease too early",
      find: "const untilMs = seen.sinceMs + durationMsOf(seen.lease, settings);",
      replace: "const untilMs = seen.sinceMs + settings.renewDeadlineMs;",
    },
    {
      name: "a removed lease is not waited out",
      find: "const removedMs = isSameLease(seen?.lease, lease) ? seen?.removedMs : nowMs;",
      replace: "const removedMs = seen?.removedMs;",
    },
    {
      name: "a holder ignores its successor",
      find: "return seen?.lease !== undefined && holderOf(seen.lease) !== identity;",
      replace: 'return seen?.lease !== undefined && holderOf(seen.lease) === "";',
    },
    {
      name: "a lease that was given back is waited for",
      find: 'if (holder === "" || nowMs >= untilMs)',
      replace: "if (nowMs >= untilMs)",
    },
    {
      name: "an unchanged lease counts as renewed",
      find: "return isSameLease(one, other) && deepEqual(one.spec, other.spec);",
      replace: "return isSameLease(one, other) && one.spec === other.spec;",
    },
  ]),
  ...mutantsOf({ topic: "fence", package: "runtime", level: "unit", tests: ["reconcile-fence"] }, [
    { name: "writes after the reconcile is over", find: "    scope.throwIfOver();\n", replace: "" },
    { name: "writes without the lease", find: "if (budgetMs <= 0) throw notLeading();", replace: "" },
    {
      name: "a write outlives the lease",
      find: "timeoutMs: Math.min(options.timeoutMs ?? defaultTimeoutMs, budgetMs)",
      replace: "timeoutMs: options.timeoutMs ?? defaultTimeoutMs",
    },
    {
      name: "the scope stays open after the reconcile",
      find: "this.breakOff(reconcileIsOver);",
      replace: "",
    },
    {
      name: "a reconcile that began later has no end",
      find: "this.#arm(reconcile.dueMs - nowMs);",
      replace: "",
    },
    {
      name: "a reconcile that is within its time is broken off",
      find: "if (reconcile.dueMs > nowMs) {",
      replace: "if (reconcile.dueMs > nowMs + this.#limitMs) {",
    },
    {
      name: "the end of a term breaks off reconciles of the next",
      find: "if (reconcile.term === term) reconcile.breakOff(term.reason);",
      replace: "if (term.aborted) reconcile.breakOff(term.reason);",
    },
  ]),
];
