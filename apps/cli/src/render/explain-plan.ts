import type { InstallPlan } from "@quartermaster/api";

import { cleanText } from "./clean-text.ts";
import { objectTitle } from "./object-title.ts";
import { isReady } from "./status-tree.ts";

type Status = NonNullable<InstallPlan["status"]>;
type Condition = NonNullable<Status["conditions"]>[number];

/** Why a plan is where it is, and what can be done. */
export interface Explanation {
  readonly phase: string;
  /** Most important first. */
  readonly because: readonly string[];
  readonly remedies: readonly string[];
}

interface Part {
  readonly because: readonly string[];
  readonly remedies?: readonly string[];
}

/** Reads a plan's status as an experienced colleague would. */
export function explainPlan(plan: InstallPlan): Explanation {
  const { status } = plan;
  const phase = status?.phase ?? "not seen yet";
  const parts = status === undefined ? [notSeen] : [...fromSpec(plan), ...fromStatus(plan, status)];
  const because = [...new Set(parts.flatMap((part) => part.because))];
  if (because.length === 0) return { phase, because: [restOf(plan)], remedies: [] };
  return { phase, because, remedies: [...new Set(parts.flatMap((part) => part.remedies ?? []))] };
}

/** The explanation as text. */
export function explanationText(
  { metadata }: InstallPlan,
  { phase, because, remedies }: Explanation,
): string {
  return [
    `InstallPlan ${metadata.namespace ?? ""}/${metadata.name} is ${phase}`,
    "",
    "Because:",
    ...because.map((line) => `  - ${cleanText(line, 1_100)}`),
    ...(remedies.length === 0 ? [] : ["", "What to do:", ...remedies.map((line) => `  - ${line}`)]),
  ].join("\n");
}

const notSeen: Part = {
  because: ["no operator has written a status yet"],
  remedies: ["see whether the operator runs and watches this namespace"],
};

function restOf(plan: InstallPlan): string {
  if (isReady(plan)) return "everything is installed and ready";
  return plan.status?.message ?? "the status gives no reason; look again in a few seconds";
}

function fromSpec({ metadata, spec, status }: InstallPlan): readonly Part[] {
  const isOld = status?.observedGeneration !== undefined && status.observedGeneration !== metadata.generation;
  const name = refOf(metadata);
  return [
    ...(isOld
      ? [{ because: ["the status is older than the spec; the operator has not seen the change yet"] }]
      : []),
    ...(spec.paused
      ? [
          {
            because: ["the plan is paused: nothing is written"],
            remedies: [`kubectl patch installplan ${name} --type=merge -p '{"spec":{"paused":false}}'`],
          },
        ]
      : []),
  ];
}

function fromStatus(plan: InstallPlan, status: Status): readonly Part[] {
  return [
    ...conditionParts(plan, status),
    ...permissionPart(plan, status),
    ...jobParts(plan, status),
    ...detailParts(status),
    ...deletionPart(status),
    ...replacedPart(plan, status),
  ];
}

/** Conditions that say something when they are not as on a good day, with the remedy that fits the kind of failure. */
const telling: readonly { readonly type: string; readonly badWhen: string; readonly remedy?: string }[] = [
  {
    type: "Resolved",
    badWhen: "False",
    remedy: "create the ResourceManifests that are named, or pack and apply again",
  },
  {
    type: "Validated",
    badWhen: "False",
    remedy: "a plan's content cannot be changed: correct the manifests and apply a new plan",
  },
  {
    type: "Authorized",
    badWhen: "False",
    remedy: "grant the service account what is missing; the plan goes on by itself",
  },
  { type: "Stalled", badWhen: "True" },
  {
    type: "Contested",
    badWhen: "True",
    remedy: "let the other writer go, or list the fields in lifecycle.ignorePaths of a new plan",
  },
  {
    type: "Drifted",
    badWhen: "True",
    remedy: "qm plan diff shows what differs; lifecycle.revert: Owned puts it back",
  },
  { type: "DeletionBlocked", badWhen: "True" },
  { type: "Ready", badWhen: "False" },
];

/** What helps against one trouble in particular; it goes before what helps against its kind. */
const reasonRemedies: ReadonlyMap<string, string> = new Map([
  ["ServiceAccountMissing", "create the service account; the plan goes on by itself"],
  [
    "ServiceAccountReplaced",
    "the account was deleted and made anew, so it is not trusted: apply a new plan that replaces this one",
  ],
  ["Collision", "remove the object that is in the way, or set lifecycle.adoption in a new plan"],
  ["NameTaken", "find out who made the object, and delete it"],
  ["KindMissing", "install the CustomResourceDefinition of the kind; the plan goes on by itself"],
  ["NamespaceMissing", "create the namespace; the plan goes on by itself"],
  ["ReplaceConflict", "delete one of the two plans that replace the same one"],
  ["AuthorUnknown", "create the plan again with the policies of config/policy in force"],
  ["AuthorizationLost", "grant the plan's author the permission to impersonate its account again"],
  ["PermissionsMissing", "grant the service account what is missing; the plan goes on by itself"],
  ["SecretMissing", "create the Secret that is named, immutable; the plan goes on by itself"],
  ["ContentChanged", "restore the ResourceManifest as it was, or pack and apply a new plan"],
  ["WaitingForKind", "install the CustomResourceDefinition of the kind; the plan goes on by itself"],
  ["StageTimeout", "the objects are still watched: once they are ready the plan goes on by itself"],
  ["ResourceFailed", "look at the object that failed; once it recovers the plan goes on by itself"],
]);

function conditionParts({ metadata, spec }: InstallPlan, status: Status): readonly Part[] {
  const conditions = status.conditions ?? [];
  const parts = telling.flatMap(({ type, badWhen, remedy }) =>
    conditions
      .filter((condition) => condition.type === type && condition.status === badWhen)
      .map((condition) => conditionPart(condition, remedy)),
  );
  // Whatever spec.approved says: an approval holds for one preview, and other troubles come first.
  const awaits = spec.approval === "Manual" && status.phase === "AwaitingApproval";
  if (!awaits) return parts;
  const remedies = [`qm plan diff ${refOf(metadata)}`, `qm plan approve ${refOf(metadata)}`];
  return [...parts, { because: ["the plan waits for approval"], remedies }];
}

function conditionPart({ reason, message }: Condition, usual: string | undefined): Part {
  const remedy = reasonRemedies.get(reason) ?? usual;
  return { because: [`${reason}: ${message}`], ...(remedy === undefined ? {} : { remedies: [remedy] }) };
}

function permissionPart({ metadata, spec }: InstallPlan, { permissions }: Status): readonly Part[] {
  const { missing = [] } = permissions ?? {};
  if (missing.length === 0) return [];
  const account = `${metadata.namespace ?? "default"}:${spec.serviceAccountName}`;
  const because = missing.map(({ verb, group, resource, namespace, name }) => {
    const what = `${resource}${group === "" ? "" : `.${group}`}${name === undefined ? "" : ` ${name}`}`;
    return `service account ${account} may not ${verb} ${what}${namespace === undefined ? "" : ` in ${namespace}`}`;
  });
  return [{ because }];
}

function jobParts({ metadata }: InstallPlan, { jobs = [] }: Status): readonly Part[] {
  return jobs
    .filter(({ state }) => state === "Failed" || state === "TimedOut")
    .map(({ stage, name, jobName, state, message }) => ({
      because: [`job ${name} of stage ${stage}: ${state}${message === undefined ? "" : `, ${message}`}`],
      remedies:
        jobName === undefined ? [] : [`kubectl logs -n ${metadata.namespace ?? "default"} job/${jobName}`],
    }));
}

const detailLimit = 10;

function detailParts({ details = [] }: Status): readonly Part[] {
  const parts = details.slice(0, detailLimit).map(({ object, state, reason, message }) => ({
    because: [
      `${objectTitle(object)} is ${state}${[reason, message].map((part) => (part === undefined ? "" : `: ${part}`)).join("")}`,
    ],
    remedies: stateRemedies[state] === undefined ? [] : [stateRemedies[state]],
  }));
  const more = details.length - detailLimit;
  return more > 0 ? [...parts, { because: [`and ${more} more objects; qm plan status lists them`] }] : parts;
}

const stateRemedies: Readonly<Record<string, string>> = {
  Missing: "lifecycle.recreate: true makes deleted objects again",
  Conflict: "somebody else owns the object: remove it, or set lifecycle.adoption in a new plan",
};

function deletionPart({ deletion }: Status): readonly Part[] {
  return (deletion?.blockedBy ?? []).map(({ object, finalizers = [] }) => ({
    because: [`${objectTitle(object)} is still there, held by ${finalizers.join(", ") || "nobody known"}`],
    remedies: [
      "see why the controllers of these finalizers do not finish; spec.deletion.onTimeout: Orphan gives up waiting",
    ],
  }));
}

function replacedPart({ metadata }: InstallPlan, { replacedBy }: Status): readonly Part[] {
  if (replacedBy === undefined) return [];
  const ref = refOf({ ...metadata, name: replacedBy.name });
  const words = replacedBy.state === "Done" ? "has taken over from it" : "is taking over from it";
  return [{ because: [`plan ${replacedBy.name} ${words}`], remedies: [`qm plan status ${ref}`] }];
}

function refOf({ name, namespace }: InstallPlan["metadata"]): string {
  return `${name} -n ${namespace ?? "default"}`;
}
