import { randomBytes } from "node:crypto";

import {
  classify,
  type Context,
  type Live,
  type ObjectRef,
  type ReconcileEvent,
  unreachable,
} from "@quartermaster/runtime";
import { secrets } from "@quartermaster/runtime/kinds";

import { applyObject } from "./apply-object.ts";
import { performGrowth } from "./autoscaling/perform-growth.ts";
import type { SampleWindows } from "./autoscaling/sample-windows.ts";
import { newAuthority } from "./certificates/issue.ts";
import { performCertificates } from "./certificates/perform-certificates.ts";
import { performSettings } from "./cluster-settings/perform-settings.ts";
import { deleteObject } from "./deletion/delete-object.ts";
import { EngineError } from "./engine/engine-error.ts";
import type { LicenseAttempts } from "./license/license-attempts.ts";
import { performLicense } from "./license/perform-license.ts";
import { labelsOf } from "./marks.ts";
import type { ClusterObject } from "./model/read-cluster.ts";
import type { SearchCluster } from "./model/search-cluster.ts";
import { isOperationAction, performOperation } from "./nodes/perform-operation.ts";
import { isOwnerAction, performOwner } from "./perform-owner.ts";
import { performRepositories } from "./repositories/perform-repositories.ts";
import type { SearchAction } from "./search-action.ts";
import { searchMemory } from "./search-memory.ts";
import { encode } from "./secret-text.ts";
import type { PasswordHasher } from "./security-content/password-hasher.ts";
import { isSecurityAction, performSecurity } from "./security-content/perform-security.ts";
import type { Subject } from "./subject.ts";

/** What writing needs besides the action. */
export interface PerformParts {
  readonly nowMs: () => number;
  readonly hasher: PasswordHasher;
  readonly attempts: LicenseAttempts;
  readonly windows: SampleWindows;
  /** Reads the cluster's own object, live; undefined when it is gone. */
  readonly findCluster: (cluster: SearchCluster, ctx: Context) => Promise<Live<ClusterObject> | undefined>;
  /** Called with every event that is recorded. */
  readonly onEvent?: (event: ReconcileEvent) => void;
  /** Asks for a sample of the cluster's engine soon. */
  readonly lookAgain: (uid: string) => void;
  /** Brings a cluster back, because something is there that it waits for. */
  readonly wake: (ref: ObjectRef) => void;
}

/** One write. */
export async function perform(action: SearchAction, ctx: Context, parts: PerformParts): Promise<void> {
  const subject = subjectOf(ctx, parts);
  if (isOperationAction(action)) {
    await performOperation(action, subject);
    return;
  }
  if (isSecurityAction(action)) {
    await performSecurity(action, subject);
    return;
  }
  if (isOwnerAction(action)) {
    await performOwner(action, subject);
    return;
  }
  switch (action.do) {
    case "apply":
      await applyObject(action.kind, action.object, subject);
      return;
    case "keepAuthority":
    case "keepPassword":
      await keepSecret(action.name, await keptFields(action, subject.cluster, parts), subject);
      return;
    case "issueLeaf":
    case "reloadCertificates":
      await performCertificates(action, subject);
      return;
    case "record":
      record(action.event, ctx, parts);
      return;
    case "delete":
    case "prune":
      await (action.do === "delete" ? deleteChild(action, subject) : pruneChild(action, subject));
      return;
    case "putLicense":
    case "startLicense":
      await performLicense(action, subject, { attempts: parts.attempts, nowMs: parts.nowMs() });
      return;
    case "keepRepositories":
    case "keepSettings":
      await performEntries(action, subject);
      return;
    case "growClaim":
      await performGrowth(action, subject, parts.windows);
      return;
    default:
      unreachable(action);
  }
}

/** Entries of the engine that the spec declares. */
async function performEntries(
  action: Extract<SearchAction, { readonly do: "keepRepositories" | "keepSettings" }>,
  subject: Subject,
): Promise<void> {
  if (action.do === "keepSettings") await performSettings(action, subject);
  else await performRepositories(action, subject);
}

function record(event: ReconcileEvent, { events }: Context, { onEvent }: PerformParts): void {
  events.record(event);
  onEvent?.(event);
}

function subjectOf(ctx: Context, parts: PerformParts): Subject {
  const { cluster, seen, engine } = ctx.memory(searchMemory);
  if (cluster === undefined) throw new TypeError("an action without a look before it");
  return {
    seen,
    cluster,
    ctx,
    engine: () => engine ?? noEngine(),
    lookAgain: () => {
      parts.lookAgain(cluster.uid);
    },
    nowMs: parts.nowMs,
    hashOf: (request) => {
      const { namespace, name, uid } = cluster;
      const onReady = (): void => {
        parts.wake({ namespace, name });
      };
      return parts.hasher.take({ ...request, account: `${uid}/${request.account}`, namespace, onReady });
    },
    findCluster: async () => await parts.findCluster(cluster, ctx),
  };
}

function noEngine(): never {
  throw new EngineError("No node has an address yet.", { code: "unreachable" });
}

async function keptFields(
  action: Extract<SearchAction, { readonly do: "keepAuthority" | "keepPassword" }>,
  cluster: SearchCluster,
  { nowMs }: Pick<PerformParts, "nowMs">,
): Promise<Readonly<Record<string, string>>> {
  return action.do === "keepAuthority" ? await newAuthority(cluster, nowMs()) : passwordFields(action);
}

function passwordFields({
  username,
  alsoRandom = [],
}: Extract<SearchAction, { readonly do: "keepPassword" }>): Readonly<Record<string, string>> {
  const further = alsoRandom.map((key) => [key, newPassword()] as const);
  return { ...Object.fromEntries(further), username, password: newPassword() };
}

/** 192 bits. */
function newPassword(): string {
  return randomBytes(24).toString("base64url");
}

/**
 * Applies an object that the cluster owns. Our stores hold marked objects only: before the first write of a name the server is asked
 * whether somebody else has it.
 */
/** Makes a Secret that outlives the cluster: no owner reference, so no cascade can take it. Never overwrites one. */
async function keepSecret(
  name: string,
  fields: Readonly<Record<string, string>>,
  { ctx, cluster }: Subject,
): Promise<void> {
  try {
    await ctx.client.create(secrets, {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name, namespace: cluster.namespace, labels: labelsOf(cluster) },
      type: "Opaque",
      data: encode(fields),
    });
  } catch (error) {
    // Somebody was faster: whether it is ours is for the next look to say.
    if (classify(error) !== "alreadyExists") throw error;
  }
}

/** Only while the cluster's object is still the one that is being deleted. */
async function deleteChild(
  { kind, name, uid, resourceVersion }: Extract<SearchAction, { readonly do: "delete" }>,
  { ctx, cluster, findCluster }: Subject,
): Promise<void> {
  const live = await findCluster();
  if (live?.metadata.uid !== cluster.uid || live.metadata.deletionTimestamp === undefined)
    throw new EngineError(`${name} is not deleted: the cluster is not being deleted.`, { code: "conflict" });
  await deleteObject(ctx.client, kind, { namespace: cluster.namespace, name, uid, resourceVersion });
}

/** Only as long as the spec is the one that does not ask for it, and the object is as it was seen. */
async function pruneChild(
  { kind, name, uid, resourceVersion, generation }: Extract<SearchAction, { readonly do: "prune" }>,
  { ctx, cluster, findCluster }: Subject,
): Promise<void> {
  const live = await findCluster();
  if (live?.metadata.uid !== cluster.uid || live.metadata.generation !== generation)
    throw new EngineError(`${name} is not deleted: the cluster was changed meanwhile.`, { code: "conflict" });
  try {
    await deleteObject(ctx.client, kind, { namespace: cluster.namespace, name, uid, resourceVersion });
  } catch (error) {
    // Changed meanwhile: the next reconcile decides again.
    if (classify(error) !== "conflict") throw error;
  }
}
