/** Roles that a kind has when Quartermaster is removed. */
export type UninstallRole =
  /** Deleted with `orphan`: the operator releases the objects behind it and keeps them. */
  | "released"
  /** Deleted: no workload stands behind it. */
  | "deleted";

/** An object of ours, as far as removing Quartermaster needs it. */
export interface OwnObject {
  /** Plural and group, e.g. `installplans.install.quartermaster.dev`. */
  readonly resource: string;
  readonly role: UninstallRole;
  readonly namespace: string | undefined;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly finalizers: readonly string[];
  readonly isBeingDeleted: boolean;
}

/** Finalizers that the object keeps, or undefined if it has none of ours. Those of others protect what is theirs. */
export function finalizersWithoutOurs({
  finalizers,
}: Pick<OwnObject, "finalizers">): readonly string[] | undefined {
  const others = finalizers.filter((each) => !isOurs(each));
  return others.length === finalizers.length ? undefined : others;
}

/** By the domain before the slash, so that a name that only ends alike is not ours. */
function isOurs(finalizer: string): boolean {
  const [domain = "", name] = finalizer.split("/");
  return name !== undefined && (domain === "quartermaster.dev" || domain.endsWith(".quartermaster.dev"));
}

/** A lease of the operator. */
export interface OperatorLease {
  readonly namespace: string;
  readonly holder: string | undefined;
  readonly renewedMs: number | undefined;
  readonly durationMs: number;
}

/** Namespaces where an operator acts: its lease is held and was renewed within its duration. */
export function actingOperators(leases: readonly OperatorLease[], nowMs: number): readonly string[] {
  return leases
    .filter(({ holder = "", renewedMs, durationMs }) => {
      return holder !== "" && renewedMs !== undefined && nowMs - renewedMs < 2 * durationMs;
    })
    .map(({ namespace }) => namespace)
    .toSorted();
}

/** How the object is called in messages. */
export function nameOf({ resource, namespace, name }: OwnObject): string {
  return `${resource} ${namespace === undefined ? "" : `${namespace}/`}${name}`;
}
