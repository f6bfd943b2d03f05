import { mutantsOf, type Mutant } from "./mutant.ts";

/** Rules of plans: stages and lifecycle policy. */
export const planRuleMutants: readonly Mutant[] = [
  ...mutantsOf(
    {
      topic: "rules",
      package: "install-plan",
      level: "unit",
      tests: ["rules-", "apply-rules", "drift-rules", "handover-rules", "retry-request", "members-block"],
    },
    [
      {
        name: "starts a plan that has started",
        find: 'if (hasStarted(plan) || account.kind !== "present") return undefined;',
        replace: 'if (account.kind !== "present") return undefined;',
      },
      {
        name: "repairs a paused plan",
        find: "if (!seen.plan.spec.paused) return undefined;",
        replace:
          "if (!seen.plan.spec.paused || seen.plan.status?.finishedAt !== undefined) return undefined;",
      },
      {
        name: "a refused object does not stop the plan",
        find: 'failure !== undefined && failure.kind !== "transient",\n',
        replace: 'failure !== undefined && failure.kind === "transient",\n',
      },
      {
        name: "a stage never times out",
        find: "stageElapsedMs > stage.timeoutSeconds * 1000;",
        replace: "stageElapsedMs > stage.timeoutSeconds * 1_000_000;",
      },
      {
        name: "one attempt too many",
        find: "return maxAttempts > 0 && attemptOf(plan) >= maxAttempts;",
        replace: "return maxAttempts > 0 && attemptOf(plan) > maxAttempts;",
      },
      {
        name: "a failed job runs again by itself",
        find: "isRepeatable: seen.plan.spec.retry.maxAttempts > 0 });",
        replace: "isRepeatable: seen.plan.spec.retry.maxAttempts >= 0 });",
      },
      {
        name: "one request makes many attempts",
        find: "return request !== undefined && request !== plan.status?.lastHandledRetry;",
        replace: "return request !== undefined;",
      },
      {
        name: "writes into a namespace that somebody else recreated",
        find: "const isMeant = pinnedUid === undefined || pinnedUid === uid || ownUid === uid;",
        replace: "const isMeant = pinnedUid === undefined || pinnedUid === uid || ownUid !== uid;",
      },
      {
        name: "the next attempt does not wait",
        find: "if (isNews || seen.retryInMs > 0) {",
        replace: "if (isNews) {",
      },
      { name: "namespaces after what is in them", find: "? 0 : 1;", replace: "? 0 : 0;" },
      {
        name: "writes of later stages",
        find: ".filter(({ member }) => member.stageIndex <= stageIndex)\n",
        replace: ".filter(({ member }) => member.stageIndex >= 0)\n",
      },
      {
        name: "strict order is broken by what is held",
        find: "const candidates = isStrict && firstHeld !== -1 ? ordered.slice(0, firstHeld) : ordered;",
        replace: "const candidates = isStrict && firstHeld !== -1 ? ordered : ordered;",
      },
      {
        name: "an object on its way out is written",
        find: "if (live?.metadata.deletionTimestamp === undefined) return undefined;",
        replace: "if (live !== null) return undefined;",
      },
      {
        name: "a stage passes before its objects are ready",
        find: 'if (stage === undefined || stage.wait === "Applied") return undefined;',
        replace: 'if (stage === undefined || stage.wait !== "Applied") return undefined;',
      },
    ],
  ),
  ...mutantsOf(
    {
      topic: "lifecycle",
      package: "install-plan",
      level: "unit",
      tests: ["rules-", "apply-rules", "drift-rules", "handover-rules"],
    },
    [
      {
        name: "recreates although switched off",
        find: "return lifecycle.recreate && isExpired !== true;",
        replace: "return isExpired !== true;",
      },
      {
        name: "a Job that expired is run again",
        find: "return lifecycle.recreate && isExpired !== true;",
        replace: "return lifecycle.recreate;",
      },
      {
        name: "reverts although switched off",
        find: 'return lifecycle.revert !== "Off" && hasDrifted(drift);',
        replace: "return hasDrifted(drift);",
      },
      {
        name: "takes a forged object although switched off",
        find: 'return view.ownership.isForged === true && lifecycle.adoption !== "Never";',
        replace: "return view.ownership.isForged === true;",
      },
      {
        name: "takes an object without owner",
        find: 'return view.ownership.isForged === true && lifecycle.adoption !== "Never";',
        replace: 'return lifecycle.adoption !== "Never";',
      },
      {
        name: "repairs what is being deleted",
        find: "if (blockedBy !== undefined || live?.metadata.deletionTimestamp !== undefined) return false;",
        replace: "if (blockedBy !== undefined) return false;",
      },
      {
        name: "repairs without the account",
        find: '  if (account.kind !== "present") return undefined;\n',
        replace: "",
      },
      {
        name: "repairs during a revert conflict",
        find: "return notBeforeMs <= seen.nowMs && isRepairWanted(view);",
        replace: "return isRepairWanted(view);",
      },
      {
        name: "forgets plans while something is amiss",
        find: 'return answer(seen, now, { phase: "Degraded", message: why.message, outcome: outcomes[actor] });',
        replace:
          'return answer(seen, now, { phase: "Degraded", message: why.message, actions: forgotten(seen), outcome: outcomes[actor] });',
      },
    ],
  ),
];
