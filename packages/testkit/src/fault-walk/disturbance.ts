import type { Fault, InterleavedRequest } from "../fault-proxy/fault.ts";
import { conflict, refused, serverError, tooManyRequests } from "../fault-proxy/fault.ts";
import { type Preconditions, preconditionsOf } from "../fault-proxy/preconditions.ts";
import {
  createForeign,
  mergeInto,
  otherClientAnnotation,
  otherClientFinalizer,
  type RawObject,
  readObject,
  removeObject,
  targetPath,
} from "./target.ts";
import type { WorkloadRun } from "./workload.ts";

/** Ids as in docs/acceptance/faults.md; E7 has two forms, I4 has three. */
export type DisturbanceId = (typeof disturbanceIds)[number];

/** All of them, in the order in which they are planned. */
export const disturbanceIds = [
  "C1",
  "C2",
  "C3",
  "C5",
  "C7",
  "E1",
  "E2",
  "E3",
  "E4",
  "E5",
  "E6",
  "E7-token",
  "E7-binding",
  "I1",
  "I2",
  "I3",
  "I4-deleted",
  "I4-labels",
  "I4-owners",
  "I5",
] as const;

export interface Interleaved {
  readonly path: string;
  readonly verb: string;
  readonly subresource: string | undefined;
  /** Preconditions that the write bore when the operator sent it. */
  readonly preconditions: Preconditions;
  readonly before: RawObject | undefined;
  readonly after: RawObject | undefined;
  /** Why the other client could not do what the plan says; then the run shows nothing. */
  readonly notApplicable?: string | undefined;
}

type CrashKind = "crash-before" | "crash-after-commit" | "crash-after-answer";

/** Kinds of crash in the order in which a run meets them; each one ends a life of the operator. */
export function crashesOf(id: DisturbanceId): readonly CrashKind[] {
  return crashes[id] ?? [];
}

const crashes: Readonly<Partial<Record<DisturbanceId, readonly CrashKind[]>>> = {
  C1: ["crash-before"],
  C2: ["crash-after-commit"],
  C3: ["crash-after-answer"],
  C5: ["crash-after-commit", "crash-before"],
  C7: ["crash-before", "crash-before", "crash-before", "crash-before", "crash-before"],
};

/** The response of the proxy instead of the server's; none at all for E4 and E5, until the client gives up. */
export const errors: Readonly<Partial<Record<DisturbanceId, Fault>>> = {
  E1: conflict(),
  E2: tooManyRequests(1),
  E3: serverError(),
  E4: { kind: "hold-request" },
  E5: { kind: "hold-answer" },
  "E7-token": refused(401),
  "E7-binding": refused(403),
  E6: { kind: "truncate-answer", afterBytes: 20 },
};

/** I1 to I5: what another client does to the object of the write. */
export async function interleave(
  id: DisturbanceId,
  run: WorkloadRun,
  request: InterleavedRequest,
): Promise<Interleaved> {
  const path = targetPath(request);
  const before = await readObject(run.api, path);
  const { verb, subresource, method, body } = request;
  const facts = { path, verb, subresource, preconditions: preconditionsOf(method, body), before };
  if (id === "I5") {
    const created = await recreate(run, { path, request, before });
    return typeof created === "string"
      ? { ...facts, after: undefined, notApplicable: created }
      : { ...facts, after: created };
  }
  const refusal = await act(id, run, { path, request, before });
  return { ...facts, after: await readObject(run.api, path), notApplicable: refusal };
}

interface Target {
  readonly path: string;
  readonly request: InterleavedRequest;
  readonly before: RawObject | undefined;
}

/** Gives the reason where the act is impossible. */
async function act(
  id: DisturbanceId,
  run: WorkloadRun,
  { path, request, before }: Target,
): Promise<string | undefined> {
  if (id === "I2") return await deletePrimary(run);
  if (id === "I3") return await retarget(run);
  if (before === undefined) return "the object does not exist yet";
  if (id === "I4-deleted") return await deleteChild(run, path);
  return missing(id, before) ?? (await edit(run, path, { ...edits[id], ...finalized(id, request, before) }));
}

/** What another client would take away, and is not there. */
function missing(id: DisturbanceId, { metadata }: RawObject): string | undefined {
  if (id === "I4-owners" && metadata.ownerReferences === undefined)
    return "the object has no owner references";
  return id === "I4-labels" && metadata.labels === undefined ? "the object has no labels" : undefined;
}

async function retarget(run: WorkloadRun): Promise<undefined> {
  await run.retarget?.();
  return undefined;
}

async function deleteChild(run: WorkloadRun, path: string): Promise<string | undefined> {
  if (isPrimary(run, path)) return "the custom resource itself: this is I2";
  return (await removeObject(run.api, path)) ? undefined : "the object is held by the server";
}

/** Metadata that the other client merges into the object. */
const edits: Readonly<Partial<Record<DisturbanceId, object>>> = {
  I1: { annotations: { [otherClientAnnotation]: "edited" } },
  "I4-labels": { labels: null },
  "I4-owners": { ownerReferences: null },
};

/** A write of finalizers must keep that of another client. */
function finalized(id: DisturbanceId, { body }: InterleavedRequest, { metadata }: RawObject): object {
  const { finalizers = [], deletionTimestamp } = metadata;
  const isFinalized = id === "I1" && body.includes('"finalizers"') && deletionTimestamp === undefined;
  return isFinalized ? { finalizers: [...finalizers, otherClientFinalizer] } : {};
}

async function edit({ api }: WorkloadRun, path: string, metadata: object): Promise<string | undefined> {
  return (await mergeInto(api, path, { metadata })) ? undefined : "the server refuses the edit";
}

/** Whether a path is that of an object that users created. */
export function isPrimary({ primaryPaths }: WorkloadRun, path: string): boolean {
  return primaryPaths.includes(path);
}

/** Deletes the newest custom resource that exists. */
async function deletePrimary({ api, primaryPaths }: WorkloadRun): Promise<string | undefined> {
  for (const path of primaryPaths.toReversed())
    if ((await api.send({ method: "DELETE", path })).status < 300) return undefined;
  return "no custom resource exists yet";
}

/** The new object, or why there is none. */
async function recreate(
  { api }: WorkloadRun,
  { path, request, before }: Target,
): Promise<RawObject | string> {
  if (before === undefined && request.verb === "delete") return "the object is deleted";
  const like = before ?? bodyOf(request);
  if (before !== undefined && !(await removeObject(api, path))) return "the object is held by the server";
  return (await createForeign(api, path, like)) ?? "the server refuses the object";
}

function bodyOf({ body }: InterleavedRequest): Readonly<Record<string, unknown>> {
  const parsed: unknown = JSON.parse(body);
  return typeof parsed === "object" && parsed !== null ? Object.fromEntries(Object.entries(parsed)) : {};
}
