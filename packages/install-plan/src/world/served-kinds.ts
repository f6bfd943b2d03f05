import { apiVersionOf, defineKind, type Discovery, type Kind, type ServedKind } from "@quartermaster/runtime";

/** The kinds of the server by exact apiVersion and kind: a plural or short name that a tenant's CRD claims means nothing here. */
export type KindTable = ReadonlyMap<string, Kind>;

const tables = new WeakMap<readonly ServedKind[], KindTable>();

/** What the server serves now, or did when discovery was last read. */
export async function readKindTable(discovery: Discovery, signal: AbortSignal): Promise<KindTable> {
  const served = await discovery.all({ signal });
  const known = tables.get(served);
  if (known !== undefined) return known;
  const table = new Map(served.map((kind) => [tableKey(apiVersionOf(kind), kind.kind), plainKind(kind)]));
  tables.set(served, table);
  return table;
}

/** The key of a kind in the table. */
export function tableKey(apiVersion: string, kind: string): string {
  return `${apiVersion}/${kind}`;
}

function plainKind({ group, version, kind, plural, scope }: ServedKind): Kind {
  return defineKind({ group, version, kind, plural, scope });
}
