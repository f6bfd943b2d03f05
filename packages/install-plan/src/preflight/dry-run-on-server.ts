import { classify, type Client, inParallel, type Kind } from "@quartermaster/runtime";

import { crdIssues } from "../crds/crd-issues.ts";
import { describeIdentity } from "../model/identity.ts";
import type { Member } from "../model/member.ts";
import { isLasting } from "../model/write-failure.ts";
import { appliedManifest } from "../ownership/applied-manifest.ts";
import type { OwnerLabels } from "../ownership/owner-labels.ts";
import type { DryRun, PlanMemory } from "../plan-memory.ts";
import type { MemberView } from "../seen.ts";
import { dryRun, type DryRunRequest } from "./dry-run.ts";
import type { MemberFinding } from "./preflight.ts";
import { previewAction } from "./preview.ts";

/** Requests in progress at the same time. */
const concurrency = 16;

export interface ServerDryRun {
  readonly views: readonly MemberView[];
  readonly ownerLabels: OwnerLabels;
  readonly memory: PlanMemory;
  /** Speaks as the account. */
  readonly account: Client;
  /** Speaks as the operator; reads only, and what it sees is shown without names. */
  readonly operator: Client;
  /** Whether an object that was not there is taken to be still absent. What a user approves is looked up afresh. */
  readonly mayTrustAbsence: boolean;
  /** The view again, after a sighting was noted. */
  readonly viewOf: (member: Member) => MemberView;
}

/** Queries the server about every object that would be written, once per manifest and version of the live object. */
export async function dryRunOnServer(question: ServerDryRun): Promise<readonly MemberFinding[]> {
  return await inParallel(question.views, concurrency, async (view) => await request(view, question));
}

async function request(view: MemberView, question: ServerDryRun): Promise<MemberFinding> {
  const action = previewAction(view);
  if (action === undefined || action === "noop" || action === "deferred") return { view };
  const result = await rememberedDryRun(view, question);
  if (result.kind === "fine" && !result.isNew && view.live === undefined) {
    const seen = await sight(view, question);
    if (seen.live === undefined) return { view: seen, dryRun: goneMeanwhile(seen) };
    return await request(seen, question);
  }
  if (result.kind === "issue" && result.issue.reason === "ImmutableField")
    return await recreation(view, result, question);
  const unsafe = await crdIssues(view, question);
  return { view, dryRun: result, unsafe };
}

/** It was there for the dry run and is not there any more: the next reconcile queries again. */
function goneMeanwhile({ member: { identity } }: MemberView): DryRun {
  const message = `${describeIdentity(identity)} was just deleted`;
  return { kind: "transient", message, retryAfterMs: 0 };
}

async function rememberedDryRun(view: MemberView, question: ServerDryRun): Promise<DryRun> {
  const { member, kind, live } = view;
  if (kind === undefined) return { kind: "deferred" };
  const { memory, ownerLabels, account } = question;
  const stamp = [ownerLabels.revision, member.digest, live?.metadata.resourceVersion ?? "none"].join("/");
  const known = memory.dryRuns.get(member.key);
  if (known?.stamp === stamp && isReliable(known.result, view, question)) return known.result;
  const isProvided = providedRoles(question);
  const result = await dryRun({ member, kind, live, ownerLabels, client: account, isProvided });
  memory.dryRuns.set(member.key, { stamp, result });
  return result;
}

/** A response about an object that we had not seen is not about the present one: it is another client's, or deleted by now. */
function isReliable(result: DryRun, { live }: MemberView, { mayTrustAbsence }: ServerDryRun): boolean {
  if (result.kind !== "fine") return false;
  return live !== undefined || (result.isNew && mayTrustAbsence);
}

function providedRoles({ views }: ServerDryRun): DryRunRequest["isProvided"] {
  return (namespace, name) =>
    views.some(
      ({ member: { identity } }) =>
        identity.name === name && identity.namespace === namespace && identity.kind.endsWith("Role"),
    );
}

/** The object has none of our owner labels, so no watch shows it: read it, as the account, because what it holds may be shown. */
async function sight(
  { member, kind }: MemberView,
  { memory, account, viewOf }: ServerDryRun,
): Promise<MemberView> {
  if (kind !== undefined) memory.unlabelledObjects.set(member.key, await account.find(kind, member.identity));
  return viewOf(member);
}

/**
 * A field that cannot be changed requests a new object. The old one goes only if the server would take the new one: under
 * another name, because the old one still has this one.
 */
async function recreation(
  view: MemberView,
  result: DryRun,
  { account, ownerLabels }: ServerDryRun,
): Promise<MemberFinding> {
  const { member, kind } = view;
  if (!mayRecreate(member) || kind === undefined) return { view, dryRun: result };
  return { view, dryRun: result, isRecreated: await canBeMade({ member, kind }, ownerLabels, account) };
}

/** A claim's data would go with it, so that it takes more than one word of the plan. */
export function mayRecreate({ lifecycle, identity }: Member): boolean {
  const holdsData = identity.kind === "PersistentVolumeClaim" && lifecycle.protectData;
  return lifecycle.onImmutable === "Recreate" && !holdsData;
}

/** Whether the server would take the object if it were new. A refusal of any sort means that the old one stays. */
export async function canBeMade(
  { member, kind }: { readonly member: Member; readonly kind: Kind },
  ownerLabels: OwnerLabels,
  account: Client,
): Promise<boolean> {
  const manifest = appliedManifest(member, ownerLabels);
  const name = `${member.identity.name.slice(0, 50).replace(/[-.]+$/, "")}-qm-try`;
  try {
    await account.create(kind, { ...manifest, metadata: { ...manifest.metadata, name } }, { dryRun: true });
    return true;
  } catch (error) {
    if (isLasting(classify(error))) return false;
    throw error;
  }
}
