import type { ClusterStatus } from "../seen.ts";

/** Status of one entry of the engine that the spec declares. Written before the entry is. */
export type EntryRecord = NonNullable<ClusterStatus["repositories"]>[number];

export interface EntryFacts {
  /** Digests of what the spec requests, by name. */
  readonly wanted: ReadonlyMap<string, string>;
  readonly recorded: readonly EntryRecord[];
  /** Digests of the engine's entries, by name; also entries of others. */
  readonly present: ReadonlyMap<string, string>;
}

/** How entries of a kind are treated. */
export interface EntryPolicy {
  /** Whether one that another client made or changed is overwritten when the spec declares it. Otherwise a user has to decide. */
  readonly overwritesForeign: boolean;
  /** Whether an entry is tried out once it is there. */
  readonly isVerified: boolean;
  /** Most records that the status may hold. */
  readonly mostRecords: number;
}

export interface EntryPlan {
  readonly put: readonly string[];
  readonly verify: readonly string[];
  /** Only ours, and only as long as they are what we wrote. */
  readonly drop: readonly string[];
  /** Declared, but there in another form that is not ours. */
  readonly conflicts: readonly string[];
  /** No longer declared, once ours, changed by another client since: they stay. */
  readonly left: readonly string[];
  /** The record that has to be in the status before anything is done. */
  readonly before: readonly EntryRecord[];
  /** The record once all of it is done. */
  readonly after: readonly EntryRecord[];
}

/**
 * Decides what becomes of the entries of one kind, e.g. of snapshot repositories. Ours is what the record says we wrote, as long as the
 * engine shows it in a form that we wrote; all else belongs to others and is never dropped.
 */
export function decideEntries(facts: EntryFacts, policy: EntryPolicy): EntryPlan {
  const { wanted, recorded, present } = facts;
  const names = [...new Set([...recorded.map(({ name }) => name), ...[...wanted.keys()].toSorted()])];
  const responses = names.map((name) =>
    decideEntry(
      {
        name,
        want: wanted.get(name),
        record: recorded.find((each) => each.name === name),
        has: present.get(name),
      },
      policy,
    ),
  );
  const named = (act: EntryAct): readonly string[] =>
    responses.flatMap((response) => (response.act === act ? [response.name] : []));
  const records = (side: "before" | "after"): readonly EntryRecord[] =>
    responses.flatMap((response) => response[side] ?? []).slice(0, policy.mostRecords);
  return {
    put: named("put"),
    verify: named("verify"),
    drop: named("drop"),
    conflicts: named("conflict"),
    left: named("left"),
    before: records("before"),
    after: records("after"),
  };
}

/** Whether everything that is declared is recorded as done, and nothing else is recorded: the engine need not be queried. */
export function isEntriesDone(
  { wanted, recorded }: Pick<EntryFacts, "wanted" | "recorded">,
  { isVerified }: Pick<EntryPolicy, "isVerified">,
): boolean {
  return (
    recorded.length === wanted.size &&
    recorded.every(
      ({ name, digests, verified, foreign }) =>
        digests.length === 1 &&
        digests[0] === wanted.get(name) &&
        (verified === true || foreign === true || !isVerified),
    )
  );
}

type EntryAct = "put" | "verify" | "drop" | "conflict" | "left" | "nothing";

interface Entry {
  readonly name: string;
  readonly want: string | undefined;
  readonly record: EntryRecord | undefined;
  readonly has: string | undefined;
}

interface EntryResponse {
  readonly name: string;
  readonly act: EntryAct;
  readonly before?: EntryRecord | undefined;
  readonly after?: EntryRecord | undefined;
}

function decideEntry(entry: Entry, policy: EntryPolicy): EntryResponse {
  const { want, record } = entry;
  if (want === undefined) return record === undefined ? nothing(entry) : decideDropped(entry, record);
  if (record === undefined || record.foreign === true) return decideNew({ ...entry, want }, policy);
  return decideOurs({ ...entry, want }, record, policy);
}

function nothing({ name }: Entry): EntryResponse {
  return { name, act: "nothing" };
}

/** No one declares it any more. */
function decideDropped({ name, has }: Entry, record: EntryRecord): EntryResponse {
  if (record.foreign === true || has === undefined) return { name, act: "nothing" };
  if (!record.digests.includes(has)) return { name, act: "left" };
  return { name, act: "drop", before: record };
}

type Wanted = Entry & { readonly want: string };

/** Nothing of ours is there under the name. */
function decideNew({ name, want, record, has }: Wanted, { overwritesForeign }: EntryPolicy): EntryResponse {
  if (has === want) return kept("nothing", { name, digests: [want], foreign: true });
  if (has !== undefined && !overwritesForeign) return { ...kept("conflict", record), name };
  // Recorded first; the next reconcile acts.
  return kept("nothing", { name, digests: [want] });
}

function decideOurs(
  { name, want, has }: Wanted,
  record: EntryRecord,
  { overwritesForeign, isVerified }: EntryPolicy,
): EntryResponse {
  const isOurs = has === undefined || record.digests.includes(has);
  if (has === want && isOurs) {
    const done = { name, digests: [want] };
    if (!isVerified) return kept("nothing", done);
    const isTried = record.verified === true && record.digests.length === 1;
    if (isTried) return kept("nothing", record);
    return { name, act: "verify", before: done, after: { ...done, verified: true } };
  }
  // Not proved any more: the engine is queried until the conflict is resolved.
  if (!isOurs && !overwritesForeign) return kept("conflict", { name, digests: record.digests });
  if (record.digests.includes(want)) return kept("put", { name, digests: record.digests });
  return kept("nothing", { name, digests: withDigest(record.digests, want, has) });
}

function kept(act: EntryAct, record: EntryRecord | undefined): EntryResponse {
  return {
    name: record?.name ?? "",
    act,
    before: record,
    after: record,
  };
}

/** Forms that we may have written; that which the engine has is always among them. */
const mostDigests = 4;

function withDigest(digests: readonly string[], next: string, has: string | undefined): string[] {
  const older = digests.filter((digest) => digest !== has).slice(2 - mostDigests);
  return [...older, ...(has !== undefined && digests.includes(has) ? [has] : []), next];
}
