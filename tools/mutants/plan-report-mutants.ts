import { mutantsOf, type Mutant } from "./mutant.ts";

/** What plans report, and what they believe: confirmations, jobs, conditions. */
export const planReportMutants: readonly Mutant[] = [
  ...mutantsOf({ topic: "confirmations", package: "install-plan", level: "unit", tests: ["confirmation"] }, [
    {
      name: "a policy that fails open guards",
      find: 'metadata.name === policyName && spec?.failurePolicy === "Fail",',
      replace: "metadata.name === policyName && spec !== undefined,",
    },
    {
      name: "a binding of any namespace guards",
      find: 'return isByName && matchLabels["kubernetes.io/metadata.name"] === namespace;',
      replace: "return isByName && namespace !== undefined;",
    },
  ]),
  ...mutantsOf({ topic: "jobs", package: "install-plan", level: "unit", tests: ["jobs-"] }, [
    {
      name: "a job without a controller never times out",
      find: "> spec.timeoutSeconds * 1000 + graceMs;",
      replace: "> spec.timeoutSeconds * 1_000_000 + graceMs;",
    },
    {
      name: "a failed job has one try too many",
      find: "if (tries < spec.attempts) return",
      replace: "if (tries <= spec.attempts) return",
    },
    {
      name: "attempts that failed elsewhere give a job more tries",
      find: "return record.planAttempt === planAttempt ?",
      replace: "return record.planAttempt !== planAttempt ?",
    },
    {
      name: "a failed Job too few is kept",
      find: 'state === "TimedOut" ? attempt : attempt - 1;',
      replace: 'state === "TimedOut" ? attempt - 1 : attempt - 1;',
    },
    {
      name: "Jobs of others are deleted",
      find: "      isOwnJob(job, plan),\n",
      replace: "      isOwnJob(job, plan) !== undefined,\n",
    },
    {
      name: "a job of a plan that has not started counts",
      find: "if (!hasStarted(plan)) return undefined;\n  return plan.status?.jobs",
      replace: "return plan.status?.jobs",
    },
  ]),
  ...mutantsOf({ topic: "conditions", package: "install-plan", level: "unit", tests: ["plan-conditions"] }, [
    {
      name: "authorized without a check",
      find: "if (preflight === undefined && !hasStarted(plan))",
      replace: "if (preflight === undefined && hasStarted(plan))",
    },
    {
      name: "valid without a check",
      find: "const isKnown = hasStarted(seen.plan) || isAnswered;",
      replace: "const isKnown = hasStarted(seen.plan) || !isAnswered;",
    },
    {
      name: "drift of what is not ours",
      find: 'ownership.kind === "owned" && hasDrifted(drift));',
      replace: "hasDrifted(drift));",
    },
    {
      name: "an empty plan is applied",
      find: "content.unresolved.length === 0 && hasStarted(plan))",
      replace: "content.unresolved.length === 0)",
    },
    {
      name: "tells which namespaces exist",
      find: 'isAllowed || reason !== "NamespaceMissing"',
      replace: "isAllowed || reason !== undefined",
    },
    {
      name: "superseded before it is over",
      find: "(successor.isDone || !hasStarted(plan));",
      replace: "(!successor.isDone || !hasStarted(plan));",
    },
    {
      name: "a forbidden write reads as authorized",
      find: '({ kind }) => kind === "forbidden",\n',
      replace: '({ kind }) => kind !== "forbidden",\n',
    },
  ]),
];
