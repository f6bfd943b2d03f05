import { fieldOf, listOf, textOf } from "@quartermaster/runtime";

import { servedVersions } from "./served-versions.ts";

/** A change of a CRD that would lose data or break those who use it. */
export interface UnsafeChange {
  readonly field: string;
  readonly message: string;
}

/**
 * What a new CRD would break of the live one, all of it. Objects may be stored in each of `status.storedVersions`, whether any
 * are there or not, so none of them may go; the rest the server refuses itself, but only when it is too late for a preview.
 */
export function unsafeCrdChanges(live: unknown, next: unknown): readonly UnsafeChange[] {
  return [
    ...identityChanges(live, next),
    ...storedVersionChanges(live, next),
    ...servedVersionChanges(live, next),
  ];
}

const fixed = [
  { path: ["group"], field: "spec.group" },
  { path: ["scope"], field: "spec.scope" },
  { path: ["names", "kind"], field: "spec.names.kind" },
  { path: ["names", "plural"], field: "spec.names.plural" },
  { path: ["names", "listKind"], field: "spec.names.listKind" },
  { path: ["names", "singular"], field: "spec.names.singular" },
] as const;

/** A name that the manifest leaves to the server's default is no change. */
function identityChanges(live: unknown, next: unknown): readonly UnsafeChange[] {
  return fixed.flatMap(({ path, field }) => {
    const [before, after] = [specField(live, path), specField(next, path)];
    if (before === undefined || after === undefined || before === after) return [];
    return [{ field, message: `cannot change from ${before} to ${after}` }];
  });
}

function specField(crd: unknown, path: readonly string[]): string | undefined {
  const value = path.reduce<unknown>((outer, key) => fieldOf(outer, key), fieldOf(crd, "spec"));
  return typeof value === "string" ? value : undefined;
}

function storedVersionChanges(live: unknown, next: unknown): readonly UnsafeChange[] {
  const kept = new Set(versionNames(next));
  return storedVersions(live)
    .filter((version) => !kept.has(version))
    .map((version) => ({
      field: "spec.versions",
      message: `version ${version} cannot be removed: objects may be stored in it; migrate them and remove it from status.storedVersions first`,
    }));
}

/** Stored objects stay readable through another version, but clients of this one lose them from one moment to the next. */
function servedVersionChanges(live: unknown, next: unknown): readonly UnsafeChange[] {
  const [known, served, stored] = [
    new Set(versionNames(next)),
    new Set(servedVersions(next)),
    storedVersions(live),
  ];
  return servedVersions(live)
    .filter((version) => stored.includes(version) && known.has(version) && !served.has(version))
    .map((version) => ({
      field: `spec.versions[${version}].served`,
      message: `version ${version} cannot stop being served while objects may be stored in it`,
    }));
}

function storedVersions(crd: unknown): readonly string[] {
  return listOf(fieldOf(crd, "status"), "storedVersions").filter((version) => typeof version === "string");
}

function versionNames(crd: unknown): readonly string[] {
  return listOf(fieldOf(crd, "spec"), "versions").flatMap((version) => textOf(version, "name") ?? []);
}
