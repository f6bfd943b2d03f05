import type { InstallPlan } from "@quartermaster/api";

import { cleanText } from "../output/clean-text.ts";
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
  readonly remedies?: readonly string[] | undefined;
}

/** Reads a plan's status as an experienced colleague would. */
export function explainPlan(plan: InstallPlan): Explanation {
  const { status } = plan;
  const phase = status?.phase ?? "not observed yet";
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
  remedies: ["check that the operator is running and watches this namespace"],
};

function restOf(plan: InstallPlan): string {
  if (isReady(plan)) return "everything is installed and ready";
  return plan.status?.message ?? "the status has no reason; try again in a few seconds";
}

function fromSpec({ metadata, spec, status }: InstallPlan): readonly Part[] {
  const isOld = status?.observedGeneration !== undefined && status.observedGeneration !== metadata.generation;
  const name = refOf(metadata);
  return [
    ...(isOld
      ? [{ because: ["the status is older than the spec; the operator has not observed the change yet"] }]
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
    ...neverTherePart(status),
  ];
}

/** Conditions that say something when they are not as on a good day, with the remedy that fits the kind of failure. */
const telling: readonly { readonly type: string; readonly badWhen: string; readonly remedy?: string }[] = [
  {
    type: "Resolved",
    badWhen: "False",
    remedy: "create the missing ResourceManifests, or run qm pack --apply again",
  },
  {
    type: "Validated",
    badWhen: "False",
    remedy: "plans are immutable: fix the manifests and apply a new plan",
  },
  {
    type: "Authorized",
    badWhen: "False",
    remedy: "grant the service account what is missing; the plan continues automatically",
  },
  { type: "Stalled", badWhen: "True" },
  {
    type: "Contested",
    badWhen: "True",
    remedy: "stop the other writer, or list the fields in lifecycle.ignorePaths of a new plan",
  },
  {
    type: "Drifted",
    badWhen: "True",
    remedy: "run qm plan diff to see the differences; lifecycle.revert: Owned reverts them",
  },
  { type: "DeletionBlocked", badWhen: "True" },
  { type: "Ready", badWhen: "False" },
];

/** What helps against one trouble in particular; it goes before what helps against its kind. */
const reasonRemedies: ReadonlyMap<string, string> = new Map([
  ["ServiceAccountMissing", "create the service account; the plan continues automatically"],
  [
    "ServiceAccountReplaced",
    "if you trust the recreated service account, run qm plan trust; otherwise apply a new plan that replaces this one",
  ],
  [
    "Collision",
    "to keep the object, set lifecycle.adoption in a new plan, which takes it over. Or rename or delete it yourself; the plan continues automatically",
  ],
  [
    "EarlierOwner",
    "if the plan was restored from a backup together with the object, run qm plan restore; otherwise delete the object",
  ],
  ["NameTaken", "find out who created the object, and delete it"],
  [
    "KindMissing",
    "install the CustomResourceDefinition of the kind, and the plan continues automatically; or correct apiVersion and kind in a new plan",
  ],
  [
    "ImmutableField",
    "apply a new plan with lifecycle.onImmutable: Recreate, which deletes and recreates the object, or with the live value of the field",
  ],
  ["NamespaceMissing", "create the namespace; the plan continues automatically"],
  ["ReplaceConflict", "delete one of the two plans that replace the same one"],
  ["NotOptedIn", "run the command in the message; the plan continues automatically"],
  ["KindNotReadable", "create the ClusterRole that the message describes; the plan continues automatically"],
  ["AuthorUnknown", "apply config/policy and create the plan again"],
  ["AuthorizationLost", "grant the plan's author the permission to impersonate its account again"],
  ["PermissionsMissing", "grant the service account what is missing; the plan continues automatically"],
  ["SecretMissing", "create the missing Secret with immutable: true; the plan continues automatically"],
  ["ContentChanged", "restore the ResourceManifest, or pack and apply a new plan"],
  ["WaitingForKind", "install the CustomResourceDefinition of the kind; the plan continues automatically"],
  ["WaitingForNamespace", "wait until the namespace exists; the plan continues automatically"],
  ["WaitingForDeletion", "check the finalizers of the object that is being deleted"],
  ["NamespaceReplaced", "apply a new plan that replaces this one"],
  ["StageTimeout", "the plan continues automatically once the objects are ready"],
  ["ResourceFailed", "check the failed object; the plan continues automatically once it recovers"],
]);

function conditionParts({ metadata, spec }: InstallPlan, status: Status): readonly Part[] {
  const conditions = status.conditions ?? [];
  const parts = telling.flatMap(({ type, badWhen, remedy }) =>
    conditions
      .filter((condition) => condition.type === type && condition.status === badWhen)
      // That it is paused or replaced is said once.
      .filter(({ reason }) => reason !== "Superseded" && reason !== "Paused")
      .map((condition) => conditionPart(condition, remedy)),
  );
  // Whatever spec.approved says: an approval holds for one preview, and other troubles come first.
  const awaits = spec.approval === "Manual" && status.phase === "AwaitingApproval";
  if (!awaits) return parts;
  const remedies = [`qm plan diff ${refOf(metadata)}`, `qm plan approve ${refOf(metadata)}`];
  return [...parts, { because: ["the plan is waiting for approval"], remedies }];
}

function conditionPart({ reason, message }: Condition, usual: string | undefined): Part {
  const remedy = reasonRemedies.get(reason) ?? usual;
  return { because: [`${reason}: ${message}`], remedies: remedy === undefined ? [] : [remedy] };
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

function jobParts({ metadata }: InstallPlan, { jobs = [], phase }: Status): readonly Part[] {
  return jobs
    .filter(({ state }) => state === "Failed" || state === "TimedOut")
    .map(({ stage, name, jobName, state, message }) => ({
      because: [`job ${name} of stage ${stage}: ${state}${message === undefined ? "" : `, ${message}`}`],
      remedies: [
        ...(jobName === undefined
          ? []
          : [`kubectl logs -n ${metadata.namespace ?? "default"} job/${jobName}`]),
        ...(phase === "Failed" ? [`fix the cause, then run qm plan retry ${refOf(metadata)}`] : []),
      ],
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
  return more > 0
    ? [...parts, { because: [`and ${more} more objects; run qm plan status to list them`] }]
    : parts;
}

const stateRemedies: Readonly<Record<string, string>> = {
  Missing: "lifecycle.recreate: true recreates deleted objects",
  Conflict:
    "the object has another owner: set lifecycle.adoption in a new plan, which takes it over, or delete it yourself",
};

function deletionPart({ deletion }: Status): readonly Part[] {
  return (deletion?.blockedBy ?? []).map(({ object, finalizers = [] }) => ({
    because: [`${objectTitle(object)} still exists, held by ${finalizers.join(", ") || "an unknown holder"}`],
    remedies: [
      "check why the controllers of these finalizers do not finish; spec.deletion.onTimeout: Orphan stops waiting",
    ],
  }));
}

function replacedPart({ metadata }: InstallPlan, { replacedBy, conditions = [] }: Status): readonly Part[] {
  if (replacedBy === undefined) return [];
  const gone = conditions.find(({ reason }) => reason === "SuccessorGone");
  if (gone !== undefined)
    return [{ because: [gone.message], remedies: ["to install its content again, apply a new plan"] }];
  const ref = refOf({ ...metadata, name: replacedBy.name });
  const args = replacedBy.state === "Done" ? "has taken over from it" : "is taking over from it";
  return [{ because: [`plan ${replacedBy.name} ${args}`], remedies: [`qm plan status ${ref}`] }];
}

/** It is installed and ready, and yet a name in it may be misspelled. */
function neverTherePart({ conditions = [] }: Status): readonly Part[] {
  return conditions
    .filter(({ type, reason }) => type === "Validated" && reason === "NotReplaced")
    .map(({ message }) => ({
      because: [`NotReplaced: ${message}`],
      remedies: [
        "if the name is misspelled, apply a new plan that names the right one; otherwise do nothing",
      ],
    }));
}

function refOf({ name, namespace }: InstallPlan["metadata"]): string {
  return `${name} -n ${namespace ?? "default"}`;
}
