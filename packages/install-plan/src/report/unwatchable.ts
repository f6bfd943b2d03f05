import type { Kind } from "@quartermaster/runtime";

/** ClusterRoles with this label are added to the operator's permissions to read; see config/rbac-limited. */
const readerLabel = "install.quartermaster.dev/aggregate-to-operator";

/** Which kinds the operator itself may not watch, and what helps. Without a full stop. */
export function describeUnwatchable(kinds: readonly Pick<Kind, "group" | "plural">[]): string {
  const names = [
    ...new Set(kinds.map(({ plural, group }) => (group === "" ? plural : `${plural}.${group}`))),
  ];
  const remedy = `grant it a ClusterRole with get, list and watch on them and the label ${readerLabel}: "true"`;
  return `The operator may not watch ${names.toSorted().join(", ")}; ${remedy}`;
}
