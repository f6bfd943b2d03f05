import { mutantsOf, type Mutant } from "./mutant.ts";

/** Drift, and handovers between plans. */
export const handoverMutants: readonly Mutant[] = [
  ...mutantsOf({ topic: "drift", package: "install-plan", level: "unit", tests: ["revert-conflict"] }, [
    {
      name: "a revert conflict one revert too early",
      find: "if (inWindow.length <= allowed) return undefined;",
      replace: "if (inWindow.length < allowed) return undefined;",
    },
    {
      name: "the pause of a revert conflict does not grow",
      find: "shortestPauseMs * 2 ** (inWindow.length - allowed - 1)",
      replace: "shortestPauseMs * 1 ** (inWindow.length - allowed - 1)",
    },
    {
      name: "two plans take over for ever",
      find: "const allowed = last.isTakeover === true ? takeoversAllowed : revertsAllowed;",
      replace: "const allowed = revertsAllowed;",
    },
    {
      name: "reverts of different managers add up",
      find: "manager === last.manager && last.atMs - atMs < conflictWindowMs",
      replace: "last.atMs - atMs < conflictWindowMs",
    },
    {
      name: "a revert conflict is never forgotten",
      find: "nowMs - atMs < conflictMemoryMs",
      replace: "nowMs - atMs < 1_000 * conflictMemoryMs",
    },
  ]),
  ...mutantsOf({ topic: "drift", package: "install-plan", level: "unit", tests: ["drift"] }, [
    {
      name: "ignorePaths are not ignored",
      find: "!dropped.includes(path) && !ignorePaths.some((ignored) => isWithin(path, ignored))",
      replace: "!dropped.includes(path)",
    },
    {
      name: "an ignored path hides its neighbours",
      find: "return path === ignored || path.startsWith(`${ignored}/`);",
      replace: "return path.startsWith(ignored);",
    },
    {
      name: "what the server drops is drift",
      find: "!dropped.includes(path) && !ignorePaths",
      replace: "!ignorePaths",
    },
    {
      name: "additions count without Strict",
      find: 'member.lifecycle.revert === "Strict" ? additionsTo(live, member) : []',
      replace: 'member.lifecycle.revert !== "Off" ? additionsTo(live, member) : []',
    },
    {
      name: "a status writer counts as disallowed",
      find: "return subresource === undefined && lifecycle.disallowedManagers.includes(manager);",
      replace: "return lifecycle.disallowedManagers.includes(manager);",
    },
    {
      name: "additions alone are not drift",
      find: "return paths.length > 0 || additions.length > 0;",
      replace: "return paths.length > 0;",
    },
    {
      name: "the wrong manager is blamed",
      find: '(other.time ?? "").localeCompare(one.time ?? "")',
      replace: '(one.time ?? "").localeCompare(other.time ?? "")',
    },
    {
      name: "annotations are additions",
      find: 'const { "f:metadata": _metadata, "f:status": _status, ...content } = fields;',
      replace: 'const { "f:status": _status, ...content } = fields;',
    },
  ]),
  ...mutantsOf({ topic: "handover", package: "install-plan", level: "unit", tests: ["handover-"] }, [
    {
      name: "goes on before the other plan agreed",
      find: "return status?.replacedBy !== undefined && successors.includes(status.replacedBy.uid);",
      replace: "return status?.replacedBy !== undefined;",
    },
    {
      name: "a plan that takes the name is the one meant",
      find: "if (found === undefined || foundUid !== uid) return",
      replace: "if (found === undefined) return",
    },
    {
      name: "a plan that is leaving still takes over",
      find: 'if (entry === undefined || (isLeaving && entry.state !== "Superseded")) return [];',
      replace: "if (entry === undefined) return [];",
    },
    {
      name: "objects of a failed successor stay with it",
      find: "...returned.map(({ metadata }) => metadata),",
      replace: "",
    },
  ]),
  ...mutantsOf(
    {
      topic: "handover",
      package: "install-plan",
      level: "unit",
      tests: ["rules-", "apply-rules", "drift-rules", "handover-rules"],
    },
    [
      {
        name: "writes before it is announced",
        find: "if (isAnnounced && holding.length === 0) return undefined;",
        replace: "if (holding.length === 0) return undefined;",
      },
      {
        name: "does not wait for its predecessors",
        find: "if (isAnnounced && holding.length === 0) return undefined;",
        replace: "if (isAnnounced) return undefined;",
      },
      {
        name: "finishes before its objects are ready",
        find: 'if (!isHandover || plan.spec.replaces?.finishWhen === "Applied") return undefined;',
        replace: 'if (isHandover || plan.spec.replaces?.finishWhen === "Applied") return undefined;',
      },
      {
        name: "rolls back although switched off",
        find: 'const isWanted = plan.spec.replaces?.onFailure === "Rollback";',
        replace: "const isWanted = plan.spec.replaces !== undefined;",
      },
      {
        name: "rolls back to a plan that is gone",
        find: '({ plan: before, state }) => before !== undefined && state === "Releasing",',
        replace: '({ state }) => state === "Releasing",',
      },
      {
        name: "deletes what others use",
        find: 'return cleanup === "Orphan" || protectedBy !== undefined\n',
        replace: 'return cleanup === "Orphan"\n',
      },
      {
        name: "deletes what is to be orphaned",
        find: 'return cleanup === "Orphan" || protectedBy !== undefined\n',
        replace: "return protectedBy !== undefined\n",
      },
      {
        name: "a replaced plan goes on writing",
        find: "const { successor } = seen.replacement;\n  if (successor === undefined) return undefined;",
        replace:
          "const { successor } = seen.replacement;\n  if (successor === undefined || seen.plan.status?.startedAt !== undefined) return undefined;",
      },
    ],
  ),
  ...mutantsOf({ topic: "handover", package: "install-plan", level: "unit", tests: ["handover-takeover"] }, [
    {
      name: "a stranger takes over",
      find: "names.filter((_name, index) => answers[index] !== true)",
      replace: "names.filter((_name, index) => answers[index] === undefined)",
    },
    {
      name: "historyLimit keeps one more",
      find: ".slice(plan.spec.historyLimit)",
      replace: ".slice(plan.spec.historyLimit + 1)",
    },
    {
      name: "history goes before the plan is installed",
      find: "if (!isInstalled(plan)) return [];",
      replace: "",
    },
    {
      name: "an unreadable author may delete plans",
      find: "if (subject === undefined) return false;",
      replace: "if (subject === undefined) return true;",
    },
  ]),
];
