import {
  apiVersionOf,
  classify,
  defineKind,
  type Discovery,
  groupOf,
  type Kind,
  type KindName,
  type ServedKind,
} from "@quartermaster/runtime";

/** The kinds of the server by exact apiVersion and kind: a plural or short name that a tenant's CRD claims means nothing here. */
export type KindTable = ReadonlyMap<string, TableKind>;

/** A kind of the server, with what plans need to know of it besides. */
export interface TableKind extends Kind {
  /** Its objects' status is written apart, by some controller. */
  readonly hasStatus: boolean;
}

const tables = new WeakMap<readonly ServedKind[], KindTable>();

export async function readKindTable(discovery: Discovery, signal: AbortSignal): Promise<KindTable> {
  const served = await discovery.all({ signal });
  const known = tables.get(served);
  if (known !== undefined) return known;
  const table = new Map(served.map((kind) => [tableKey(apiVersionOf(kind), kind.kind), plainKind(kind)]));
  tables.set(served, table);
  return table;
}

/** The table after a fresh read where it lacks one of the kinds: a CRD is in discovery only shortly after it is established. */
export async function kindTableFor(
  wanted: readonly KindName[],
  discovery: Discovery,
  signal: AbortSignal,
): Promise<KindTable> {
  const table = await readKindTable(discovery, signal);
  const unknown = wanted.find(({ apiVersion, kind }) => !table.has(tableKey(apiVersion, kind)));
  if (unknown === undefined) return table;
  try {
    await discovery.find(unknown, { signal });
  } catch (error) {
    // Not served, or an aggregated API that is down: in both cases the table says what there is.
    const errorClass = classify(error);
    if (errorClass !== "notFound" && errorClass !== "transient") throw error;
  }
  return await readKindTable(discovery, signal);
}

/** The kind of an object; undefined while it is not served. */
export function kindIn(kinds: KindTable, { apiVersion, kind }: KindName): TableKind | undefined {
  return kinds.get(tableKey(apiVersion, kind));
}

/** The kind under which an object can be reached: of its own version, or of another in which the server still has it. */
export function reachableKind(kinds: KindTable, identity: KindName): TableKind | undefined {
  const group = groupOf(identity.apiVersion);
  return (
    kindIn(kinds, identity) ??
    kinds.values().find((served) => served.group === group && served.kind === identity.kind)
  );
}

/** The key of a kind in the table. */
export function tableKey(apiVersion: string, kind: string): string {
  return `${apiVersion}/${kind}`;
}

function plainKind({ group, version, kind, plural, scope, subresources }: ServedKind): TableKind {
  return {
    ...defineKind({ group, version, kind, plural, scope }),
    hasStatus: subresources.includes("status"),
  };
}
