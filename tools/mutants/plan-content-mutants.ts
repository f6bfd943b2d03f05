import { mutantsOf, type Mutant } from "./mutant.ts";

/** Ownership, preflight, permissions, approval, manifests, jobs, conditions. */
export const planContentMutants: readonly Mutant[] = [
  ...mutantsOf({ topic: "ownership", package: "install-plan", level: "unit", tests: ["ownership"] }, [
    {
      name: "a label makes an object ours before the start",
      find: 'return hasStarted(plan) ? { kind: "owned" } : unmarked(live, context);',
      replace: 'return { kind: "owned" };',
    },
    {
      name: "labels alone bring restored objects back",
      find: 'if (restore === "given") return isProven(live)',
      replace: "if (restore !== undefined) return isProven(live)",
    },
    {
      name: "objects of a plan that lives are taken for restored ones",
      find: "living.get(claimed) !== undefined || !isProven(live)) return false;",
      replace: "!isProven(live)) return false;",
    },
    {
      name: "an object without labels is ours before the end",
      find: "isInstalled(plan) && !hasLabel && isProven(live)",
      replace: "!hasLabel && isProven(live)",
    },
    {
      name: "a predecessor's object is foreign",
      find: 'if (takesOverFrom.has(mark)) return { kind: "inherited" };',
      replace: "",
    },
    {
      name: "plans of other namespaces are named",
      find: 'return owner.startsWith(`${namespace}/`) ? `plan ${owner}` : "a plan in another namespace";',
      replace: "return `plan ${owner}`;",
    },
  ]),
  ...mutantsOf({ topic: "preflight", package: "install-plan", level: "unit", tests: ["preflight"] }, [
    {
      name: "adopts what another plan owns",
      find: 'lifecycle.adoption !== "Never" : lifecycle.adoption === "Always"',
      replace: 'lifecycle.adoption !== "Never" : lifecycle.adoption !== "Never"',
    },
    {
      name: "adopts although adoption is off",
      find: 'lifecycle.adoption !== "Never" : lifecycle.adoption === "Always"',
      replace: 'lifecycle.adoption !== undefined : lifecycle.adoption === "Always"',
    },
    {
      name: "adopts what nobody approved",
      find: "return isAllowed && isUnapproved !== true;",
      replace: "return isAllowed;",
    },
    {
      name: "a changed object keeps its digest",
      find: 'return [member.key, member.digest, action, live === undefined ? "" : liveTrace(live)];',
      replace: "return [member.key, member.digest, action];",
    },
    {
      name: "a changed action keeps its digest",
      find: "return [member.key, member.digest, action, live",
      replace: "return [member.key, member.digest, live",
    },
    {
      name: "an unreadable match is no lack",
      find: "...(missingPermissions.length === 0 ? unreadable : missingPermissions),",
      replace: "...missingPermissions,",
    },
    {
      name: "more adoptions than an approval holds",
      find: "if (count <= adoptionLimit) return [];",
      replace: "if (count <= 2 * adoptionLimit) return [];",
    },
    {
      name: "a refused dry run is no issue",
      find: 'const refused = dryRun?.kind === "issue" && !isRecreated ? [dryRun.issue] : [];',
      replace: 'const refused = dryRun?.kind === "issue" && isRecreated ? [dryRun.issue] : [];',
    },
    {
      name: "leftovers are not previewed",
      find: "...deletedOf(leftovers).map(",
      replace: "...deletedOf(leftovers).slice(1).map(",
    },
    {
      name: "kept leftovers are previewed as deleted",
      find: 'cleanup === "Delete" && protectedBy === undefined)',
      replace: 'cleanup === "Delete")',
    },
  ]),
  ...mutantsOf(
    {
      topic: "preflight",
      package: "install-plan",
      level: "unit",
      tests: ["rules-", "apply-rules", "drift-rules", "handover-rules"],
    },
    [
      {
        name: "starts while the server is undecided",
        find: "if (preflight === undefined || preflight.undecided.length === 0) return undefined;",
        replace: "if (preflight === undefined || preflight.undecided.length > 0) return undefined;",
      },
    ],
  ),
  ...mutantsOf({ topic: "permissions", package: "install-plan", level: "unit", tests: ["permissions"] }, [
    {
      name: "one name counts as all names",
      find: "return resourceNames.length === 0 || (name !== undefined && resourceNames.includes(name));",
      replace: "return resourceNames.length === 0 || name === undefined || resourceNames.includes(name);",
    },
    {
      name: "a missing review counts as complete",
      find: "reviewFor(reviews, permission)?.isIncomplete ?? true;",
      replace: "reviewFor(reviews, permission)?.isIncomplete ?? false;",
    },
    {
      name: "deleting needs no permission",
      find: '...(needsDelete(member) ? ["delete"] : [])',
      replace: "...(needsDelete(member) ? [] : [])",
    },
    {
      name: "escalate and bind are ignored",
      find: "lacking.length > 0 && !holdsPermission(waivedBy, facts.reviews)",
      replace: "lacking.length > 0",
    },
    {
      name: "an aggregated role gives nothing",
      find: "isAggregated ? everything : (",
      replace: "isAggregated ? [] : (",
    },
    {
      name: "a role that is not there gives nothing",
      find: "uncoveredPermissions(rules, rulesIn(reviews, place), namespace) : [waivedBy];",
      replace: "uncoveredPermissions(rules, rulesIn(reviews, place), namespace) : [];",
    },
    {
      name: "a path matches every path",
      find: 'url.endsWith("*") && path.startsWith(url.slice(0, -1))',
      replace: 'url.endsWith("*")',
    },
  ]),
  ...mutantsOf(
    { topic: "approval", package: "install-plan", level: "unit", tests: ["approval", "plan-status"] },
    [
      {
        name: "an approval covers any preview",
        find: 'return coveredPreview(facts) === present ? "given" : "outdated";',
        replace: 'return "given";',
      },
      {
        name: "a digest alone is an approval",
        find: 'if (!approved) return "missing";',
        replace: 'if (!approved && plan.spec.approvedPreview === undefined) return "missing";',
      },
      {
        name: "an approval follows the preview",
        find: "spec.approvedPreview ?? status?.approvedPreview ?? status?.preview?.digest",
        replace: "spec.approvedPreview ?? status?.preview?.digest",
      },
      {
        name: "a forged start is an approval",
        find: "return status?.startedAt !== undefined && isApproved;",
        replace: "return status?.startedAt !== undefined;",
      },
      {
        name: "forged progress is kept",
        find: "return !hasStarted(plan) && progressFields.some(",
        replace: "return hasStarted(plan) && progressFields.some(",
      },
      {
        name: "the rest of a stage's time is lost",
        find: "limitMs - Math.min(leftAtLeastMs, limitMs / 2);",
        replace: "limitMs;",
      },
    ],
  ),
  ...mutantsOf({ topic: "manifest", package: "install-plan", level: "unit", tests: ["manifest-resolve"] }, [
    {
      name: "content is not compared with its digest",
      find: "if (digestOf(resolved.value) === spec.sha256) return resolved;",
      replace: 'if (spec.sha256 !== "") return resolved;',
    },
    {
      name: "a Secret that can change is taken",
      find: "if (secret.immutable !== true) {",
      replace: "if (secret.immutable === false) {",
    },
  ]),
  ...mutantsOf(
    { topic: "manifest", package: "install-plan", level: "unit", tests: ["manifest-flatten-list"] },
    [
      {
        name: "lists of any depth",
        find: "if (levelsLeft === 0) return",
        replace: "if (levelsLeft === -9) return",
      },
      {
        name: "a list holds other kinds",
        find: 'if (expected === "" || kind === undefined || kind === expected) return undefined;',
        replace: 'if (expected === "" || kind === undefined || kind !== "") return undefined;',
      },
    ],
  ),
  ...mutantsOf(
    { topic: "manifest", package: "install-plan", level: "unit", tests: ["manifest-read-content"] },
    [
      {
        name: "labels of the operator are taken",
        find: ".filter((key) => key.startsWith(ownLabels))",
        replace: ".filter((key) => key === ownLabels)",
      },
      {
        name: "owner references are taken",
        find: '  ["ownerReferences", "is not allowed: the plan owns its objects; remove it"],\n',
        replace: "",
      },
      {
        name: "copies that differ are dropped",
        find: "issues: unlike.flatMap(",
        replace: "issues: unlike.slice(1).flatMap(",
      },
    ],
  ),
  ...mutantsOf({ topic: "manifest", package: "install-plan", level: "unit", tests: ["manifest-read-yaml"] }, [
    {
      name: "a byte order mark is read",
      find: 'if (text.startsWith("\\u{FEFF}")) {',
      replace: 'if (text.startsWith("\\u{FEFF}\\u{FEFF}")) {',
    },
  ]),
  ...mutantsOf(
    { topic: "manifest", package: "install-plan", level: "unit", tests: ["manifest-read-content"] },
    [
      {
        name: "faults of missing content are reported",
        find: "...(isWhole ? leaningIssues(",
        replace: "...(!isWhole ? leaningIssues(",
      },
    ],
  ),
];
