import {
  ApiError,
  classify,
  type Client,
  definedFields,
  groupOf,
  type Kind,
  type KubeObject,
  unreachable,
} from "@quartermaster/runtime";

import { isCreatedAsApplied } from "../manifest/provided-kinds.ts";
import { inOrder, isImmutableCause } from "../model/describe-causes.ts";
import { describeIdentity } from "../model/identity.ts";
import type { Issue, IssueReason } from "../model/issue.ts";
import type { Member } from "../model/member.ts";
import { refusalText } from "../model/write-failure.ts";
import { appliedManifest } from "../ownership/applied-manifest.ts";
import { fieldManager, type OwnerLabels } from "../ownership/owner-labels.ts";
import type { DryRun } from "../plan-memory.ts";

export interface DryRunRequest {
  readonly member: Member;
  readonly kind: Kind;
  readonly live: KubeObject | undefined;
  readonly ownerLabels: OwnerLabels;
  readonly client: Client;
  /** Roles that come with the plan: a binding to one cannot be queried about before it is there. */
  readonly isProvided: (namespace: string | undefined, role: string) => boolean;
}

/** Queries the server, with the account's permissions, what it would make of the object. Changes nothing. */
export async function dryRun(request: DryRunRequest): Promise<DryRun> {
  try {
    const isNew = mayTryCreate(request) && (await tryCreate(request));
    return { kind: "fine", isNew: isNew || (await tryApply(request)) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return judge(error, request);
  }
}

const requesting = { fieldManager, dryRun: true, isMetadataEnough: true } as const;

async function tryApply({ member, kind, live, ownerLabels, client }: DryRunRequest): Promise<boolean> {
  let isNew = false;
  await client.apply(kind, withVersion(appliedManifest(member, ownerLabels, live), live), {
    ...requesting,
    force: live !== undefined,
    onCreated: () => {
      isNew = true;
    },
  });
  return isNew;
}

function mayTryCreate({ live, member }: DryRunRequest): boolean {
  return live === undefined && isCreatedAsApplied(member.manifest);
}

/**
 * Costs the server a third less than an apply: it neither reads YAML nor compares fields. False when only an apply can decide:
 * another client's object may be there, and the manifest only a part of it.
 */
async function tryCreate({ member, kind, ownerLabels, client }: DryRunRequest): Promise<boolean> {
  try {
    await client.create(kind, appliedManifest(member, ownerLabels), requesting);
    return true;
  } catch (error) {
    if (error instanceof ApiError && /^(?:alreadyExists|invalid|forbidden)$/.test(error.class)) return false;
    throw error;
  }
}

/** The object with the version that it must still have: the write fails when another client was faster. */
export function withVersion(manifest: KubeObject, live: KubeObject | undefined): KubeObject {
  if (live === undefined) return manifest;
  const { uid, resourceVersion } = live.metadata;
  return {
    ...manifest,
    metadata: { ...manifest.metadata, ...definedFields({ uid, resourceVersion }) },
  };
}

function judge(error: ApiError, request: DryRunRequest): DryRun {
  const { member, live } = request;
  switch (error.class) {
    case "conflict":
      // Without force: another client's fields, so the object is there.
      if (live === undefined) return { kind: "fine", isNew: false };
      return transient(error, member);
    case "notFound":
      return bindsProvidedRole(request) ? { kind: "deferred" } : issueOf(error, member, "Rejected");
    case "forbidden":
      // Permissions were compared before; what is refused now is an escalation, a quota or an admission's decision.
      if (isAboutPermissions(member)) return { kind: "missingPermission", message: refusalText(error) };
      return issueOf(error, member, "Rejected");
    case "invalid":
    case "tooLarge":
      return issueOf(error, member, isImmutable(error) ? "ImmutableField" : "Rejected");
    case "alreadyExists":
    case "unauthorized":
    case "gone":
    case "tooManyRequests":
    case "transient":
    case "timeout":
    case "aborted":
    case "bug":
      return transient(error, member);
    default:
      return unreachable(error.class);
  }
}

function transient(error: ApiError, { identity }: Member): DryRun {
  const message = `${describeIdentity(identity)}: ${refusalText(error)}`;
  return { kind: "transient", message, retryAfterMs: error.retryAfterMs ?? 0 };
}

/** Whether the server refused a change of a field that cannot be changed. */
export function isImmutable(error: unknown): boolean {
  return error instanceof ApiError && classify(error) === "invalid" && error.causes.some(isImmutableCause);
}

/** Every fault that the server lists becomes part of one issue, the first field named. */
function issueOf(
  error: ApiError,
  member: Member,
  reason: IssueReason,
): { readonly kind: "issue"; readonly issue: Issue } {
  const { stage, index, identity } = member;
  const [first] = inOrder(error.causes);
  const remedy = reason === "ImmutableField" ? `. ${immutableRemedy(member)}` : "";
  return {
    kind: "issue",
    issue: {
      reason,
      stage,
      index,
      object: identity,
      ...(first?.field === undefined || first.field === "" ? {} : { field: first.field }),
      message: `${describeIdentity(identity)} was rejected: ${refusalText(error)}${remedy}`,
    },
  };
}

export function immutableRemedy({ lifecycle, identity }: Pick<Member, "lifecycle" | "identity">): string {
  const holdsData = identity.kind === "PersistentVolumeClaim" && lifecycle.protectData;
  const keep = "or keep the live value.";
  if (lifecycle.onImmutable === "Fail")
    return `In a new plan, set lifecycle.onImmutable: Recreate${holdsData ? " and protectData: false" : ""} to delete and recreate the object, ${keep}`;
  if (holdsData) return `Recreating it loses its data: set lifecycle.protectData: false, ${keep}`;
  return `It is not recreated, because the API server would reject the new object too: fix it in a new plan, ${keep}`;
}

function isAboutPermissions({ identity }: Member): boolean {
  return groupOf(identity.apiVersion) === "rbac.authorization.k8s.io";
}

function bindsProvidedRole({ member, isProvided }: DryRunRequest): boolean {
  const { manifest, identity } = member;
  const roleRef: unknown = "roleRef" in manifest ? manifest.roleRef : undefined;
  if (typeof roleRef !== "object" || roleRef === null || !("name" in roleRef) || !("kind" in roleRef))
    return false;
  const namespace = roleRef.kind === "Role" ? identity.namespace : undefined;
  return typeof roleRef.name === "string" && isProvided(namespace, roleRef.name);
}
