import { fieldOf, isJsonObject } from "@quartermaster/runtime";

import type { SubscriptionSettings } from "../subscription-settings.ts";
import { earlierVolumes } from "./arrange-volumes.ts";
import { podPatch, withMounts } from "./changed-pod.ts";
import { injected, type InjectionDecision, skipped } from "./injection-decision.ts";
import { mountPaths } from "./our-paths.ts";
import {
  containersIn,
  type ContainerView,
  isWithin,
  type MountView,
  type PodView,
  viewPod,
} from "./pod-view.ts";

/**
 * Gives new ephemeral containers of an injected pod the directories that its other containers have. Nothing else of the pod can
 * be changed there, and files cannot be mounted one by one: Kubernetes forbids `subPath` in ephemeral containers.
 */
export function decideEphemeral(
  object: unknown,
  oldObject: unknown,
  settings: SubscriptionSettings,
): InjectionDecision {
  // What the pod was created with decides, not what this request says of it.
  const old = viewPod(oldObject);
  const earlier = earlierVolumes(old, settings);
  if (earlier.size === 0) return skipped();
  const pod = viewPod(object);
  const fresh = newContainers(pod, old);
  if (fresh.length === 0) return skipped();
  const ours = old.containers.flatMap(({ mounts }) => mounts).filter(({ volume }) => earlier.has(volume));
  const directories = uniqueDirectories(ours);
  const warnings = ours.some(({ subPath }) => subPath !== "")
    ? ["some files of bundles are not mounted: ephemeral containers cannot have subPath mounts"]
    : [];
  const mounts = new Map(fresh.map((container) => [container, mountsWith(container, directories)]));
  const spec = fieldOf(pod.object, "spec");
  const ephemeralContainers = withMounts(spec, "ephemeralContainers", mounts);
  const after = { ...pod.object, spec: { ...(isJsonObject(spec) ? spec : {}), ephemeralContainers } };
  const patch = podPatch(pod.object, after);
  return patch.length === 0 ? skipped(warnings) : injected(patch, { scope: "none", warnings });
}

function newContainers({ object }: PodView, old: PodView): readonly ContainerView[] {
  const known = new Set(
    containersIn(fieldOf(old.object, "spec"), "ephemeralContainers").map(({ name }) => name),
  );
  return containersIn(fieldOf(object, "spec"), "ephemeralContainers").filter(({ name }) => !known.has(name));
}

/** Whole volumes at our paths; the outer one first, as in other containers. */
function uniqueDirectories(mounts: readonly MountView[]): readonly MountView[] {
  return Object.values(mountPaths).flatMap((location) => {
    const mount = mounts.find(({ path, subPath }) => path === location && subPath === "");
    return mount === undefined ? [] : [mount];
  });
}

/** The container's own mounts stay; nothing of ours hides them. */
function mountsWith({ mounts }: ContainerView, directories: readonly MountView[]): readonly unknown[] {
  const fitting = directories.filter(({ path }) => !mounts.some((mount) => isWithin(mount.path, path)));
  return [...mounts, ...fitting].map(({ raw }) => raw);
}
