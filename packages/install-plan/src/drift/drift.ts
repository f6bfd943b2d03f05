import {
  fieldsAppliedBy,
  type FieldSet,
  isApplyOf,
  type KubeObject,
  type ManagerEntry,
  managersOf,
  unownedPaths,
} from "@quartermaster/runtime";

import type { Member } from "../model/member.ts";
import { appliedManifest, outside, pathsBeyond, touches } from "../ownership/applied-manifest.ts";
import { fieldManager, type OwnerLabels } from "../ownership/owner-labels.ts";

/** How an object that is ours departs from what was applied. */
export interface Drift {
  /** JSON pointers of the fields that are no longer as we set them. */
  readonly paths: readonly string[];
  /** Fields that a disallowed manager added; only with `revert: Strict`. */
  readonly additions: readonly string[];
  /** Who changed it, as far as the server reports it. */
  readonly manager?: string | undefined;
}

/** Everything is as it was applied. */
export const noDrift: Drift = { paths: [], additions: [] };

/** Whether anything of it is to be written. */
export function hasDrifted({ paths, additions }: Drift): boolean {
  return paths.length > 0 || additions.length > 0;
}

/** Judges a live object by who owns its fields; `dropped` are paths that the server never gave us. */
export function driftOf(
  member: Member,
  live: KubeObject,
  { ownerLabels, dropped = [] }: { readonly ownerLabels: OwnerLabels; readonly dropped?: readonly string[] },
): Drift {
  const owned = fieldsAppliedBy(live, fieldManager) ?? {};
  const wanted = appliedManifest(member, ownerLabels, live);
  const { ignorePaths = [] } = member.lifecycle;
  const paths = unownedPaths(wanted, owned).filter(
    (path) => !dropped.includes(path) && !ignorePaths.some((ignored) => isWithin(path, ignored)),
  );
  const additions = member.lifecycle.revert === "Strict" ? additionsTo(live, member) : [];
  const manager = managerBehind(live, [...paths, ...additions]);
  return {
    paths,
    additions,
    manager,
  };
}

/** Whether an entry is of a manager whose additions `Strict` removes. `*` means all but ours. */
export function isDisallowed(entry: ManagerEntry, { lifecycle }: Member): boolean {
  if (entry.subresource !== undefined) return false;
  const { disallowedManagers } = lifecycle;
  if (disallowedManagers.includes(entry.manager)) return true;
  return disallowedManagers.includes("*") && !isApplyOf(entry, fieldManager);
}

/** The fields that `Strict` governs. Metadata and status are not part of it: many clients annotate. */
export function strictFields(fields: FieldSet, { lifecycle: { ignorePaths = [] } }: Member): FieldSet {
  return outside(fields, ["/metadata", "/status", ...ignorePaths]);
}

function additionsTo(live: KubeObject, member: Member): readonly string[] {
  const owned = fieldsAppliedBy(live, fieldManager) ?? {};
  const entries = managersOf(live).filter((entry) => isDisallowed(entry, member));
  return entries.flatMap(({ fields }) => pathsBeyond(strictFields(fields, member), owned));
}

/** The last one to have written to a drifted path; without one, the last other writer at all. */
function managerBehind(live: KubeObject, paths: readonly string[]): string | undefined {
  if (paths.length === 0) return undefined;
  const others = managersOf(live)
    .filter((entry) => !isApplyOf(entry, fieldManager))
    .toSorted((one, other) => (other.time ?? "").localeCompare(one.time ?? ""));
  const culprit = others.find(({ fields }) => paths.some((path) => touches(fields, path)));
  return (culprit ?? others.find(({ subresource }) => subresource === undefined))?.manager;
}

function isWithin(path: string, ignored: string): boolean {
  return path === ignored || path.startsWith(`${ignored}/`);
}
