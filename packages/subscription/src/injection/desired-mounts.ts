import type { SubscriptionSettings } from "../subscription-settings.ts";
import type { PlacedVolume, Placement } from "./arrange-volumes.ts";
import type { Purpose } from "./injection-facts.ts";
import { isAtOurPath, mountPaths } from "./our-paths.ts";
import { type ContainerView, isWithin, type MountView } from "./pod-view.ts";

/** A mount that a container is to have. */
export interface DesiredMount {
  readonly name: string;
  readonly mountPath: string;
  readonly subPath?: string | undefined;
  readonly readOnly?: true | undefined;
}

export interface ContainerMounts {
  /** All mounts of the container. */
  readonly mounts: readonly unknown[];
  /** A path that something else is mounted at already; nothing is mounted then. */
  readonly conflict?: string | undefined;
  /** How each purpose is mounted. */
  readonly layouts: ReadonlyMap<Purpose, "directory" | "files">;
  /** Repositories hide what else is mounted below them, because the configuration says so. */
  readonly isHiding: boolean;
}

/** Decides how one container sees the volumes. Mounts of an earlier injection that are not wanted any more go. */
export function mountsFor(
  container: ContainerView,
  placement: Placement,
  settings: SubscriptionSettings,
): ContainerMounts {
  const foreign = container.mounts.filter((mount) => !isInjected(mount, placement));
  const layouts = layoutsFor(foreign, placement.placed, settings);
  const desired = placement.placed.flatMap((volume) =>
    mountsOf(volume, layouts.get(volume.purpose) ?? "files"),
  );
  const conflict = conflictOf(foreign, desired, placement.placed);
  const isHiding =
    layouts.get("repository") === "directory" &&
    foreign.some(({ path }) => isWithin(path, mountPaths.repository));
  const facts = { layouts, isHiding, conflict };
  return {
    ...facts,
    mounts: merged(container.mounts, { placement, desired: conflict === undefined ? desired : [] }),
  };
}

/** Whether a mount is one of ours: our volume at one of our places. */
function isInjected(mount: MountView, { placed, earlier }: Placement): boolean {
  const isOurs = earlier.has(mount.volume) || placed.some(({ name }) => name === mount.volume);
  return isOurs && isAtOurPath(mount);
}

/**
 * Entitlements are a directory if one volume holds them all. So are repositories, unless something else is mounted below
 * `/run/secrets`: a service account's token cannot be mounted into a read-only directory, and the container would not start.
 * Files do not follow later edits of their objects, so directories are preferred.
 */
function layoutsFor(
  foreign: readonly MountView[],
  placed: readonly PlacedVolume[],
  { repoLayout, profile }: SubscriptionSettings,
): ReadonlyMap<Purpose, "directory" | "files"> {
  const isOneDirectory = (purpose: Purpose): boolean => {
    const [volume, ...others] = placed.filter((each) => each.purpose === purpose);
    return volume?.isDirectory === true && others.length === 0;
  };
  const isOccupied = foreign.some(({ path }) => isWithin(path, mountPaths.repository));
  const canNest =
    profile === "seed" ||
    placed.every(({ source, purpose }) => purpose !== "repository" || "projected" in source);
  const isRepositoryDirectory =
    isOneDirectory("repository") &&
    (repoLayout === "directory" || (repoLayout === "auto" && canNest && !isOccupied));
  return new Map([
    ["repository", isRepositoryDirectory ? "directory" : "files"],
    ["entitlement", isOneDirectory("entitlement") ? "directory" : "files"],
  ]);
}

function mountsOf(
  { name, purpose, source, files }: PlacedVolume,
  layout: "directory" | "files",
): readonly DesiredMount[] {
  const location = mountPaths[purpose];
  // Projected volumes are read-only anyway.
  const readOnly = "csi" in source ? ({ readOnly: true } as const) : {};
  if (layout === "directory") return [{ name, mountPath: location, ...readOnly }];
  return files.map(({ path, subPath }) => ({ name, mountPath: `${location}/${path}`, subPath, ...readOnly }));
}

/** A mount of the author above our paths is fine; at them, or anywhere within the entitlements, it is not. */
function conflictOf(
  foreign: readonly MountView[],
  desired: readonly DesiredMount[],
  placed: readonly PlacedVolume[],
): string | undefined {
  const hasEntitlements = placed.some(({ purpose }) => purpose === "entitlement");
  const taken = foreign.find(
    ({ path }) =>
      (hasEntitlements && isWithin(path, mountPaths.entitlement)) ||
      desired.some(({ mountPath, subPath }) =>
        subPath === undefined ? path === mountPath : isWithin(path, mountPath),
      ),
  );
  return taken?.path;
}

interface Merge {
  readonly placement: Placement;
  readonly desired: readonly DesiredMount[];
}

/** Correct mounts keep their position: a second call changes nothing. */
function merged(mounts: readonly MountView[], { placement, desired }: Merge): readonly unknown[] {
  const kept = mounts.filter(
    (mount) =>
      !placement.dropped.has(mount.volume) &&
      (!isInjected(mount, placement) || desired.some((wanted) => isSame(mount, wanted))),
  );
  const added = desired.filter((wanted) => !kept.some((mount) => isSame(mount, wanted)));
  return [...kept.map(({ raw }) => raw), ...added];
}

function isSame(
  { volume, path, subPath, isReadOnly }: MountView,
  {
    name,
    mountPath,
    subPath: wantedSubPath = "",
    readOnly = false,
  }: Omit<DesiredMount, "readOnly"> & {
    readonly readOnly?: boolean | undefined;
  },
): boolean {
  return volume === name && path === mountPath && subPath === wantedSubPath && isReadOnly === readOnly;
}
