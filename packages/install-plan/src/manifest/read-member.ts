import type { InstallPlan } from "@quartermaster/api";
import { digestOf, fieldOf, type JsonObject, textOf } from "@quartermaster/runtime";

import { describeIdentity, type Identity, identityKey, identityOf } from "../model/identity.ts";
import type { Issue } from "../model/issue.ts";
import type { Lifecycle, Member } from "../model/member.ts";
import { appliedForm, type AppliedForm } from "./applied-form.ts";
import type { PlanItem } from "./plan-items.ts";
import type { ServedKind } from "./provided-kinds.ts";

/** A member with what was found while making it. */
export interface MemberReading {
  readonly member: Member;
  readonly issues: readonly Issue[];
  readonly warnings: readonly string[];
}

/** How a kind is served, by the cluster or by a CRD of the plan; undefined when no one provides it. */
export type FindKind = (apiVersion: string, kind: string) => ServedKind | undefined;

/** Makes a member of an item: in its namespace, as it is applied, under the plan's lifecycle with its own words over it. */
export function readMember(item: PlanItem, plan: InstallPlan, findKind: FindKind): MemberReading {
  const kind = findKind(textOf(item.object, "apiVersion") ?? "", textOf(item.object, "kind") ?? "");
  const form = formIn(item.object, namespaceFor(item, plan, kind));
  const member = memberOf(item, plan, form);
  const problems = [
    ...form.problems.map(({ field, message }) => ({ field, message: `${field} ${message}` })),
    ...scopeProblems(member.identity, plan, kind),
    ...referenceProblems(item, member),
  ];
  const title = describeIdentity(member.identity);
  return {
    member,
    issues: problems.map(({ field, message }) =>
      issueFor(member, { field, message: `${title}: ${message}` }),
    ),
    warnings: form.dropped.map((field) => `${title}: ${field} is not applied and was dropped`),
  };
}

interface DigestedForm extends AppliedForm {
  readonly digest: string;
}

/** Content is read again whenever the cluster serves something new, and the digests of large objects take longest. */
const forms = new WeakMap<
  JsonObject,
  { readonly namespace: string | undefined; readonly form: DigestedForm }
>();

function formIn(object: JsonObject, namespace: string | undefined): DigestedForm {
  const known = forms.get(object);
  if (known !== undefined && known.namespace === namespace) return known.form;
  const applied = appliedForm(object, namespace);
  const form = { ...applied, digest: digestOf(applied.manifest) };
  forms.set(object, { namespace, form });
  return form;
}

/** An issue about a member, by default one of its manifest. */
export function issueFor(
  { stage, index, identity }: Member,
  issue: Pick<Issue, "field" | "message"> & Partial<Pick<Issue, "reason">>,
): Issue {
  return { reason: "InvalidManifest", stage, index, object: identity, ...issue };
}

/** Of a kind that no one knows the scope is not known either: what is written stays. */
function namespaceFor(
  { object }: PlanItem,
  plan: InstallPlan,
  kind: ServedKind | undefined,
): string | undefined {
  const written = textOf(fieldOf(object, "metadata"), "namespace") ?? "";
  if (kind?.scope === "Cluster") return undefined;
  if (written !== "") return written;
  return kind === undefined ? undefined : plan.metadata.namespace;
}

function memberOf(
  { stage, stageIndex, index, resource }: PlanItem,
  plan: InstallPlan,
  form: DigestedForm,
): Member {
  const identity = identityOf(form.manifest);
  return {
    stage,
    stageIndex,
    index,
    identity,
    key: identityKey(identity),
    manifest: form.manifest,
    digest: form.digest,
    lifecycle: laidOver(plan.spec.lifecycle, resource.lifecycle),
    readiness: resource.readiness ?? { mode: "Default" },
  };
}

/** The plan's lifecycle with the resource's own above it, field by field. */
export function laidOver(lifecycle: Lifecycle, own: PlanItem["resource"]["lifecycle"]): Lifecycle {
  if (own === undefined) return lifecycle;
  const output = Object.entries(own).filter(([, value]) => value !== undefined);
  return { ...lifecycle, ...Object.fromEntries(output) };
}

interface Fault {
  readonly field: string;
  readonly message: string;
}

function scopeProblems(
  identity: Identity,
  plan: InstallPlan,
  kind: ServedKind | undefined,
): readonly Fault[] {
  if (plan.spec.scope === "Cluster" || kind === undefined) return [];
  if (kind.scope === "Cluster") {
    return [{ field: "kind", message: "is cluster-scoped; set scope: Cluster on the plan" }];
  }
  if (identity.namespace === plan.metadata.namespace) return [];
  const message = `is outside ${plan.metadata.namespace ?? "the plan's namespace"}; set scope: Cluster on the plan`;
  return [{ field: "metadata.namespace", message }];
}

/** The reference is the inventory once the manifest no longer exists, so it must be correct. */
function referenceProblems(
  { resource: { manifestRef } }: PlanItem,
  { identity, key }: Member,
): readonly Fault[] {
  if (manifestRef === undefined) return [];
  const { namespace = "", ...rest } = manifestRef.object;
  const isLeftOut = namespace === "" && identity.namespace !== undefined;
  const reported = { ...rest, namespace: isLeftOut ? (identity.namespace ?? "") : namespace };
  if (identityKey(reported) === key && reported.apiVersion === identity.apiVersion) return [];
  const message = `the reference to ${manifestRef.name} declares ${describeIdentity({ ...rest, ...(namespace === "" ? {} : { namespace }) })}`;
  return [{ field: "manifestRef.object", message }];
}

/** The members without repetitions. */
export interface Merged {
  readonly members: readonly Member[];
  readonly issues: readonly Issue[];
  readonly warnings: readonly string[];
}

/**
 * Keeps the first of several members that are the same object. Copies that are alike to the byte are a warning, as large
 * bundles ship them; copies that differ are an issue on each, and so are two versions of one kind.
 */
export function mergeDuplicates(members: readonly Member[]): Merged {
  const groups = [...Map.groupBy(members, ({ key }) => key).values()];
  const repeated = groups.filter((group) => group.length > 1);
  const [alike, unlike] = [repeated.filter(areAlike), repeated.filter((group) => !areAlike(group))];
  return {
    members: groups.flatMap(([first]) => (first === undefined ? [] : [first])),
    issues: unlike.flatMap((group) => group.map((member) => differing(member, group))),
    warnings: alike.flatMap(([first, ...others]) =>
      first === undefined
        ? []
        : [`${describeIdentity(first.identity)}: ${others.length} identical copies were dropped`],
    ),
  };
}

function areAlike(group: readonly Member[]): boolean {
  return group.every(({ digest }) => digest === group[0]?.digest);
}

function differing(member: Member, group: readonly Member[]): Issue {
  const locations = group.filter((other) => other !== member).map(({ stage, index }) => `${stage}[${index}]`);
  const others = [...new Set(locations)].toSorted().join(", ");
  return issueFor(member, {
    message: `${describeIdentity(member.identity)}: is in the plan more than once with different content, also at ${others}`,
  });
}
