import { type InstallPlan, resourceManifest } from "@quartermaster/api";
import { classify, type Context, type Discovery, type System } from "@quartermaster/runtime";
import { jobs as jobKind } from "@quartermaster/runtime/kinds";

import { asAccount, mayActAs, optInRemedy, readAccount } from "./account/account.ts";
import { restoreOf } from "./confirmation/confirmation.ts";
import { dependenciesOf } from "./dependencies/dependencies.ts";
import { plansBeside } from "./dependencies/plans-beside.ts";
import { leftoverPermissions, readLeftovers } from "./handover/leftovers.ts";
import { authorizedReplacement, siblingsOf } from "./handover/takeover.ts";
import type { MemberStores } from "./inventory/member-stores.ts";
import { unwatchableOwnKinds } from "./inventory/unwatchable-kinds.ts";
import { surplusJobs } from "./jobs/ended-jobs.ts";
import { dryRunJobs } from "./jobs/job-object.ts";
import { explainRunning, isOwnJob, type JobView, jobViews } from "./jobs/job-view.ts";
import { type ContentReader, manifestNames } from "./manifest/content-reader.ts";
import type { Content } from "./manifest/content.ts";
import { type KindTable, tableKey } from "./manifest/kind-table.ts";
import { kindFinder } from "./manifest/read-content.ts";
import { observeMembers } from "./members/observe-members.ts";
import { explainUnready } from "./members/pod-observations.ts";
import { readServedContent } from "./members/served-content.ts";
import type { Member } from "./model/member.ts";
import { attemptOf, hasStarted } from "./model/plan-status.ts";
import { planMemory, type PlanMemory } from "./plan-memory.ts";
import { followColliding } from "./preflight/colliding.ts";
import { dryRunOnServer } from "./preflight/dry-run-on-server.ts";
import { lackingPermissions } from "./preflight/lacking-permissions.ts";
import { preflightFrom } from "./preflight/preflight.ts";
import { retryInMs, stageElapsedMs } from "./retry/retry.ts";
import type { MemberView, Preflight, Seen } from "./seen.ts";
import {
  isReadable,
  readTransformed,
  transformationIssues,
  transformationPermissions,
} from "./transformations/transformed.ts";

export interface ObserverOptions {
  readonly system: System;
  readonly discovery: Discovery;
  readonly contents: ContentReader;
  /** Nothing is done for plans whose author is not recorded. */
  readonly requireAuthor: boolean;
}

/** Reads everything that the rules need. Writes nothing, and queries the server only what its watches do not show. */
export async function observe(plan: InstallPlan, ctx: Context, parts: ObserverOptions): Promise<Seen> {
  const memory = ctx.memory(planMemory);
  memory.recallNamespaces(plan.status?.namespaces ?? []);
  const [nowMs, wallMs] = [parts.system.monotonicMs(), parts.system.wallMs()];
  const { kinds, content } = await readServedContent(plan, ctx, parts);
  const { replacement, takeover } = await authorizedReplacement(plan, siblingsOf(plan, ctx), ctx);
  const question = { plan, content, kinds, replacement, memory, nowMs, wallMs };
  const { stores, context, ownerLabels, view, ...observed } = await observeMembers(question, ctx);
  const account = await readAccount(plan, ctx, parts);
  const isUsable = account.kind === "present";
  const looking = { memory, nowMs, view, account: asAccount(ctx.client, plan) };
  const members = isUsable ? await explainUnready(observed.members, looking) : observed.members;
  const transformed = isUsable ? await readTransformed(plan, content, { ...parts, kinds, ctx }) : [];
  const leftovers = await readLeftovers({ plan, content, replacement, ...parts, kinds, ctx });
  const unwatchable = await unwatchableOwnKinds({ plan, content, kinds }, ctx);
  const restore = restoreOf(plan, ctx);
  const recorded = jobsOf(plan, stores, { memory, nowMs, isRestored: restore === "given" });
  const jobs = isUsable ? await explainRunning(recorded, looking) : recorded;
  const base = {
    plan,
    ownerLabels,
    content,
    members,
    account,
    unwatchable: [...stores.forbidden, ...unwatchable],
    restore,
    replacement,
    takeover,
    dependencies: dependenciesOf(plan, plansBeside(plan, ctx)),
    transformed,
    transformationIssues: transformationIssues(transformed, context),
    leftovers,
    jobs,
    surplusJobs: surplusJobs(plan, jobs, () => stores.list(jobKind)),
    nowMs,
  };
  const responses = canDryRun(base) ? await preflightAs(base, { ctx, memory, view, kinds }) : {};
  const known = { ...base, ...responses };
  const colliding = followColliding(known, { ctx, kinds, memory });
  return {
    ...known,
    colliding,
    manifests: manifestsOf(plan, ctx),
    writeFailures: [...memory.writeFailures.values()].filter(({ action }) => action !== "apply"),
    pinnedNamespaces: memory.pinnedNamespaces,
    unresolvedMs: unresolvedMs(content, memory, nowMs),
    stageElapsedMs: stageElapsedMs(plan, memory, parts.system),
    retryInMs: retryInMs(plan, memory, nowMs),
  };
}

const unresolved = "unresolved";

function unresolvedMs(content: Content, memory: PlanMemory, nowMs: number): number {
  if (content.unresolved.length > 0) return memory.elapsedMs(unresolved, nowMs);
  memory.restart(unresolved);
  return 0;
}

function manifestsOf(plan: InstallPlan, ctx: Context): Seen["manifests"] {
  const { namespace = "" } = plan.metadata;
  const store = ctx.store(resourceManifest.kind);
  return manifestNames(plan).flatMap((name) => store.get({ namespace, name }) ?? []);
}

function jobsOf(
  plan: InstallPlan,
  stores: MemberStores,
  {
    memory,
    nowMs,
    isRestored,
  }: { readonly memory: PlanMemory; readonly nowMs: number; readonly isRestored: boolean },
): readonly JobView[] {
  return jobViews({
    plan,
    planAttempt: attemptOf(plan),
    isRestored,
    find: (name) => {
      const found = stores.find(jobKind, { namespace: plan.metadata.namespace ?? "", name });
      return found !== undefined && isOwnJob(found, plan) ? found : undefined;
    },
    elapsedMs: (name) => memory.elapsedMs(`job/${name}`, nowMs),
  });
}

type Base = Pick<
  Seen,
  | "plan"
  | "ownerLabels"
  | "content"
  | "members"
  | "account"
  | "unwatchable"
  | "restore"
  | "replacement"
  | "takeover"
  | "dependencies"
  | "transformed"
  | "transformationIssues"
  | "leftovers"
  | "jobs"
  | "surplusJobs"
  | "nowMs"
>;

/** The server is queried only about what is valid in itself; a missing namespace is reported once permissions were compared. */
function canDryRun(base: Base): boolean {
  const { plan, content, account, replacement, unwatchable } = base;
  return (
    !hasStarted(plan) &&
    content.unresolved.length === 0 &&
    content.issues.every(({ reason }) => reason === "NamespaceMissing") &&
    replacement.issues.length === 0 &&
    replacement.successor === undefined &&
    unwatchable.length === 0 &&
    waitsForNoPlan(base) &&
    account.kind === "present"
  );
}

/** Kinds and namespaces may come with dependencies. Where a takeover is refused, a preview would show what another author's plan holds. */
function waitsForNoPlan({ dependencies, takeover }: Base): boolean {
  return (dependencies?.waitingFor ?? []).length === 0 && (takeover?.missing ?? []).length === 0;
}

interface PreflightOptions {
  readonly ctx: Context;
  readonly memory: PlanMemory;
  readonly view: (member: Member) => MemberView;
  readonly kinds: KindTable;
}

/** The first request that is sent as the account shows whether we may act as it at all. */
async function preflightAs(
  base: Base,
  parts: PreflightOptions,
): Promise<Pick<Seen, "preflight"> | Pick<Seen, "account">> {
  try {
    return { preflight: await readPreflight(base, parts) };
  } catch (error) {
    if (classify(error) !== "forbidden" || (await mayActAs(base.plan, parts.ctx))) throw error;
    const { account } = base;
    const uid = account.kind === "missing" ? "" : account.uid;
    return { account: { kind: "impersonationDenied", uid, remedy: await optInRemedy(base.plan, parts.ctx) } };
  }
}

async function readPreflight(base: Base, { ctx, memory, view, kinds }: PreflightOptions): Promise<Preflight> {
  const { plan, members, ownerLabels, content, replacement, nowMs } = base;
  const account = asAccount(ctx.client, plan);
  const findKind = kindFinder(content.provided, (apiVersion, kind) => kinds.get(tableKey(apiVersion, kind)));
  const missingPermissions = await lackingPermissions({
    plan,
    members: content.members,
    replacement,
    further: [...transformationPermissions(base.transformed, plan), ...leftoverPermissions(base.leftovers)],
    pluralOf: ({ identity }) => findKind(identity.apiVersion, identity.kind)?.plural,
    client: account,
    signal: ctx.signal,
  });
  const elapsedMs = memory.elapsedMs("preflight", nowMs);
  const mayTrustAbsence = plan.spec.approval === "Automatic";
  const parties = { account, operator: ctx.client };
  const question = { views: members, ownerLabels, memory, ...parties, mayTrustAbsence, viewOf: view };
  const isSound = content.issues.length === 0 && base.transformed.every(isReadable);
  const isAllowed = missingPermissions.length === 0 && isSound;
  // Whose an object is, is shown to an account that may read it; until then nothing is reported about it.
  const findings = isAllowed ? await dryRunOnServer(question) : [];
  const jobRuns = isAllowed ? await dryRunJobs({ ...base, memory, account }) : [];
  const preflight = preflightFrom(findings, { ...base, jobRuns, missingPermissions, elapsedMs });
  if (preflight.undecided.length === 0) memory.restart("preflight");
  return preflight;
}
