import type { Purpose } from "./injection-facts.ts";
import type { MountView } from "./pod-view.ts";

/** The names that volumes have where nothing else is called so. */
export const volumeNames: Readonly<Record<Purpose, string>> = {
  repository: "yum-repo",
  entitlement: "etc-pki-entitlement",
};

/** Where repositories and entitlements appear in containers; the outer path first. */
export const mountPaths: Readonly<Record<Purpose, string>> = {
  repository: "/run/secrets",
  entitlement: "/run/secrets/etc-pki-entitlement",
};

/** Whether something is mounted as we mount: a directory at one of our paths, or a single file in it. */
export function isAtOurPath({ path, subPath }: MountView): boolean {
  return Object.values(mountPaths).some(
    (location) => path === location || (subPath !== "" && path.slice(0, path.lastIndexOf("/")) === location),
  );
}
