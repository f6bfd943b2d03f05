import { clusterLicense } from "@quartermaster/api/licensing";
import { licenseParameters } from "@quartermaster/license-selection";
import { unreachable } from "@quartermaster/runtime";

import type { EngineClient } from "../engine/engine-client.ts";
import { EngineError } from "../engine/engine-error.ts";
import type { EngineLicense, LicenseResponse, LicenseCause } from "../engine/engine-facts.ts";
import type { PerformContext } from "../perform-context.ts";
import { searchReasons } from "../reasons.ts";
import type { ActionOf } from "../search-action.ts";
import type { LicenseResult } from "./license-attempts.ts";

/** Writes about the license. */
export type LicenseAction = ActionOf<"putLicense" | "startLicense">;

/** One attempt. Whatever comes of it is remembered and reported by the next reconcile; it never fails this one. */
export async function performLicense(
  action: LicenseAction,
  context: Pick<PerformContext, "cluster" | "ctx" | "engine" | "attempts" | "nowMs" | "observer">,
): Promise<void> {
  const { cluster, ctx, attempts, observer } = context;
  const result = await attempted(action, context);
  attempts.record(cluster.uid, result);
  observer.licenseTried?.(result.outcome);
  if (result.outcome === "failed") return;
  const isApplied = result.outcome === "applied";
  ctx.events.record({
    type: isApplied ? "Normal" : "Warning",
    reason: isApplied ? "LicenseApplied" : result.reason,
    action: "ApplyLicense",
    note: isApplied ? `The engine runs under license ${result.uid}.` : `License ${result.uid} was refused.`,
  });
}

/** Read from the server itself: a license is not given up because a watch is late. */
async function isLicenseBack(
  uid: string,
  { ctx, cluster: { namespace } }: Pick<PerformContext, "ctx" | "cluster">,
): Promise<boolean> {
  const options = { namespace, signal: ctx.signal };
  for await (const { spec } of ctx.client.list(clusterLicense.kind, options))
    if (spec.uid === uid) return true;
  return false;
}

async function attempted(
  action: LicenseAction,
  context: Pick<PerformContext, "cluster" | "ctx" | "engine" | "nowMs">,
): Promise<LicenseResult> {
  const { engine, nowMs } = context;
  try {
    return action.kind === "putLicense"
      ? await putLicense(action, engine(), nowMs())
      : await startLicense(action, engine(), async (uid) => await isLicenseBack(uid, context));
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    const uid = action.kind === "putLicense" ? action.uid : action.type;
    const reason = error.code === "forbidden" ? searchReasons.authFailed : searchReasons.licensePending;
    const message = `The license was not applied: the engine did not respond as expected (${error.code}).`;
    return { uid, digest: action.digest, outcome: "failed", reason, message, current: undefined };
  }
}

async function putLicense(
  { uid, digest, file, startMs, warnsFirst }: ActionOf<"putLicense">,
  engine: EngineClient,
  nowMs: number,
): Promise<LicenseResult> {
  const before = await engine.license();
  if (before.uid === uid) return applied({ uid, digest }, before);
  const response = await written(sent({ file, warnsFirst }, engine));
  if (response === undefined) return notPermitted({ uid, digest });
  // Clocks differ: a license that has just begun may not have begun yet for the engine.
  const isTooEarly = response.outcome === "invalid" && nowMs - startMs < licenseParameters.clockSkewMs;
  if (isTooEarly)
    return failed({ uid, digest }, "The engine does not take the license yet; clocks may differ.");
  if (response.outcome !== "applied" && response.outcome !== "alreadySo")
    return refused({ uid, digest }, refusalReason(response), response);
  // HTTP 200 is not success: what counts is what runs.
  const after = await engine.license();
  return after.uid === uid
    ? applied({ uid, digest, messages: response.messages }, after)
    : failed({ uid, digest }, "The engine took the license and runs under another one.");
}

/** Sends a file. The engine's warnings before the acknowledgement are part of its response. */
async function sent(
  { file, warnsFirst }: Pick<ActionOf<"putLicense">, "file" | "warnsFirst">,
  engine: EngineClient,
): Promise<LicenseResponse> {
  const first = await engine.putLicense(file, { acknowledge: !warnsFirst });
  if (!warnsFirst || first.outcome !== "acknowledgeRequired") return first;
  const response = await engine.putLicense(file, { acknowledge: true });
  return { ...response, messages: [...first.messages, ...response.messages] };
}

async function startLicense(
  { type, digest, from }: ActionOf<"startLicense">,
  engine: EngineClient,
  isBack: (uid: string) => Promise<boolean>,
): Promise<LicenseResult> {
  if (from !== undefined) {
    const before = await engine.license();
    if (before.uid !== from.uid)
      return failed(
        { uid: type, digest },
        "The engine runs under another license by now; nothing is started.",
      );
    if (from.isLost && (await isBack(from.uid)))
      return failed(
        { uid: type, digest },
        `A ClusterLicense with license ${from.uid} is back; nothing is started.`,
      );
  }
  const response = await written(startOf(type, engine));
  if (response === undefined) return notPermitted({ uid: type, digest });
  if (response.outcome === "refused")
    return refused({ uid: type, digest }, searchReasons.trialNotAvailable, response);
  const after = await engine.license();
  return after.type === type
    ? applied({ uid: after.uid, digest }, after)
    : failed({ uid: type, digest }, `The engine did not start a ${type} license.`);
}

/** The response to a write; undefined where our account may read the license and not change it. */
async function written(response: Promise<LicenseResponse>): Promise<LicenseResponse | undefined> {
  try {
    return await response;
  } catch (error) {
    if (error instanceof EngineError && error.code === "forbidden") return undefined;
    throw error;
  }
}

function notPermitted(attempt: Attempted): LicenseResult {
  const message = "The engine does not permit the operator's account to change the license.";
  return { ...failed(attempt, message), reason: searchReasons.insufficientPrivileges };
}

const causeReasons: Readonly<Record<LicenseCause, string>> = {
  typeNotAllowed: searchReasons.uploadTypeNotAllowed,
  tlsRequired: searchReasons.tlsRequired,
  fipsMode: searchReasons.fipsRequired,
};

function refusalReason({ outcome, cause }: LicenseResponse): string {
  if (cause !== undefined) return causeReasons[cause];
  if (outcome === "acknowledgeRequired") return searchReasons.needsAcknowledgement;
  return outcome === "expired" ? searchReasons.licenseExpired : searchReasons.rejectedByCluster;
}

async function startOf(type: "trial" | "basic", engine: EngineClient): Promise<LicenseResponse> {
  switch (type) {
    case "trial":
      return await engine.startTrial({ acknowledge: true });
    case "basic":
      return await engine.startBasic({ acknowledge: true });
    default:
      return unreachable(type);
  }
}

interface Attempted {
  readonly uid: string;
  readonly digest: string;
  readonly messages?: readonly string[] | undefined;
}

function applied({ uid, digest, messages = [] }: Attempted, current: EngineLicense): LicenseResult {
  const message = messages.join(" ");
  return { uid, digest, outcome: "applied", reason: "Applied", message, current };
}

function refused(
  { uid, digest }: Attempted,
  reason: string,
  { messages, outcome }: LicenseResponse,
): LicenseResult {
  const message = [outcome, ...messages].join(": ");
  return { uid, digest, outcome: "rejected", reason, message, current: undefined };
}

function failed({ uid, digest }: Attempted, message: string): LicenseResult {
  return {
    uid,
    digest,
    outcome: "failed",
    reason: searchReasons.licensePending,
    message,
    current: undefined,
  };
}
