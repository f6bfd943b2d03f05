import type { TraceEntry } from "../fault-proxy/fault-proxy.ts";
import { isWritePoint } from "../fault-proxy/seen-request.ts";
import { writePointKey } from "./write-point.ts";

/** All requests of a run, in order. */
export type Trace = readonly TraceEntry[];
type Aliases = Readonly<Record<string, string>>;

/** O3: a delete that does not name the object that was seen, or an overwrite that meets whatever has the name. */
export function unguardedWrite(trace: Trace): string | undefined {
  const bare = trace.find((entry) => isWritePoint(entry) && !isGuarded(entry));
  return bare === undefined ? undefined : `O3: ${bare.verb} of ${bare.path} without a precondition`;
}

function isGuarded(entry: TraceEntry): boolean {
  const { uid, resourceVersion } = entry.preconditions;
  if (entry.verb === "delete") return uid !== undefined;
  if (entry.verb === "deletecollection") return false;
  return uid !== undefined || resourceVersion !== undefined || !canOverwrite(entry);
}

/** An apply that is not forced leaves the fields of others alone, and a create fails where an object is. */
function canOverwrite({ verb, path, contentType, status }: TraceEntry): boolean {
  if (verb === "create" || status === 201) return false;
  const isApply = contentType?.startsWith("application/apply-patch") === true;
  return !isApply || /[?&]force=true/.test(path);
}

/** O2: an object that is created or deleted more often than in the reference. */
export function repeatedWrite(
  trace: Trace,
  { aliases, usual }: { readonly aliases: Aliases; readonly usual: ReadonlyMap<string, number> },
): string | undefined {
  for (const [key, count] of countWrites(trace, aliases)) {
    const expected = usual.get(key) ?? 0;
    if (count > expected) return `O2: ${key} succeeded ${count} times instead of ${expected}`;
  }
  return undefined;
}

/**
 * Successful creates and deletes by name of the write point. An apply is not counted: the garbage collector may take an object before its owner's
 * deletion is seen, which is then applied once more.
 */
export function countWrites(trace: Trace, aliases: Aliases): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const entry of trace) {
    const key = writePointKey(entry, aliases);
    const isCounted = ["create", "delete"].includes(entry.verb) && (entry.status ?? 500) < 300;
    if (key !== undefined && isCounted) counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}

/**
 * O7: an object that is created after Ready=True of a custom resource of the user was published in the same step: Ready came too early. What the
 * operator itself makes, e.g. a copy of a license, is ready before the others.
 */
export function earlyReady(stepTrace: Trace, primaryPaths: readonly string[]): string | undefined {
  let ready: TraceEntry | undefined;
  for (const entry of stepTrace) {
    if (entry.publishes !== undefined && primaryPaths.includes(ownerPath(entry)) && isCommitted(entry))
      ready = entry.publishes.isReady ? entry : undefined;
    else if (ready !== undefined && isCreation(entry) && mayOwn(ready, entry))
      return `O7: ${entry.verb} of ${entry.path} after Ready=True of ${ready.path}`;
  }
  return undefined;
}

/** Path of the object whose status is written. */
function ownerPath({ path }: TraceEntry): string {
  return path.replace(/\?.*$/, "").replace(/\/status$/, "");
}

function isCreation(entry: TraceEntry): boolean {
  return isWritePoint(entry) && !isReview(entry) && entry.status === 201;
}

/** Within a namespace, and from outside of all. */
function mayOwn(owner: TraceEntry, { namespace }: TraceEntry): boolean {
  return owner.namespace === undefined || owner.namespace === namespace;
}

/** O9: a request that the server refused for lack of a permission. What an author may not do is refused to the author's account. */
export function forbiddenRequest(trace: Trace): string | undefined {
  const refused = trace.find(
    ({ status, fault, impersonatedUser }) =>
      status === 403 && fault === undefined && impersonatedUser === undefined,
  );
  return refused === undefined ? undefined : `O9: ${refused.verb} of ${refused.path} is forbidden`;
}

/** O11: more than a fifth more committed writes of content than in the reference, beyond the one that is repeated. */
export function wastedWrites(trace: Trace, usual: number): string | undefined {
  const count = committedWrites(trace);
  return count <= Math.max(usual * 1.2, usual + 1) ? undefined : `O11: ${count} writes instead of ${usual}`;
}

/** Committed writes of content: a status, an event or a lease costs no object. */
export function committedWrites(trace: Trace): number {
  const isContent = (entry: TraceEntry): boolean =>
    isWritePoint(entry) && !isReview(entry) && entry.subresource === undefined;
  return trace.filter((entry) => isContent(entry) && isCommitted(entry)).length;
}

/** O14: a write after everything was as declared. */
export function writeAtRest(trace: Trace, from: number): string | undefined {
  const late = trace.slice(from).find(isWritePoint);
  return late === undefined ? undefined : `O14: ${late.verb} of ${late.path} although all was as declared`;
}

/** O16: an object that is written before all of an earlier stage were. Stages are patterns of names of write points. */
export function earlyWrite(
  trace: Trace,
  { aliases, stages }: { readonly aliases: Aliases; readonly stages: readonly (readonly RegExp[])[] },
): string | undefined {
  const open = stages.map((members) => new Set(members));
  for (const entry of trace) {
    const key = writePointKey(entry, aliases) ?? "";
    const at = stages.findIndex((members) => members.some((member) => member.test(key)));
    if (at === -1) continue;
    if (open.slice(0, at).some((members) => members.size > 0)) return `O16: ${key} before its stage`;
    if (!isCommitted(entry)) continue;
    for (const member of open[at] ?? []) if (member.test(key)) open[at]?.delete(member);
  }
  return undefined;
}

function isCommitted({ status, fault }: TraceEntry): boolean {
  return (status ?? 500) < 300 || fault === "crash-after-commit" || fault === "hold-answer";
}

/** O17: a write of content by another user than the one that the owner names. */
export function writeByOther(
  trace: Trace,
  { user, isOwn }: { readonly user: string; readonly isOwn: (entry: TraceEntry) => boolean },
): string | undefined {
  const other = trace.find(
    (entry) => isWritePoint(entry) && !isReview(entry) && !isOwn(entry) && entry.impersonatedUser !== user,
  );
  if (other === undefined) return undefined;
  return `O17: ${other.verb} of ${other.path} as ${other.impersonatedUser ?? "the operator"}`;
}

function isReview({ resource }: TraceEntry): boolean {
  return resource.endsWith("reviews");
}
