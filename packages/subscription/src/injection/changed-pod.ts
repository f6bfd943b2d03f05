import {
  fieldOf,
  isJsonObject,
  type JsonObject,
  type JsonPatchOperation,
  listOf,
  patchBetween,
  withoutFields,
} from "@quartermaster/runtime";

import { annotations } from "./annotations.ts";
import type { ContainerList, ContainerView, PodView } from "./pod-view.ts";
import type { ResolvedBundle } from "./resolve-bundle.ts";

export interface Records {
  /** The injected bundles with their generations. */
  readonly generations: string | undefined;
  /** Names of the volumes that we added. */
  readonly volumes: string | undefined;
}

/** A pod without injection has neither. */
export const noRecords: Records = { generations: undefined, volumes: undefined };

export interface PodChange {
  readonly volumes: readonly unknown[];
  /** All mounts of each container that has a change. */
  readonly mounts: ReadonlyMap<ContainerView, readonly unknown[]>;
  /** Our annotations; undefined removes one. */
  readonly records: Records;
}

/** The pod with the change. */
export function changedPod({ object }: PodView, { volumes, mounts, records }: PodChange): JsonObject {
  const spec = fieldOf(object, "spec");
  return {
    ...object,
    metadata: withRecords(fieldOf(object, "metadata"), records),
    spec: {
      ...(isJsonObject(spec) ? spec : {}),
      ...listUnlessAbsent(spec, "volumes", volumes),
      ...listUnlessAbsent(spec, "containers", withMounts(spec, "containers", mounts)),
      ...listUnlessAbsent(spec, "initContainers", withMounts(spec, "initContainers", mounts)),
    },
  };
}

/** The operations from one pod to another, in a fixed order: volumes, containers, init containers, annotation. */
export function podPatch(before: JsonObject, after: JsonObject): readonly JsonPatchOperation[] {
  const parts = [
    ["spec", "volumes"],
    ["spec", "containers"],
    ["spec", "initContainers"],
    ["spec", "ephemeralContainers"],
    ["metadata", "annotations"],
  ] as const;
  return parts.flatMap(([parent, field]) =>
    patchBetween(partOf(before, parent, field), partOf(after, parent, field)),
  );
}

/** The containers of a list with new mounts where there are some. */
export function withMounts(
  spec: unknown,
  list: ContainerList,
  mounts: PodChange["mounts"],
): readonly unknown[] {
  const changes = [...mounts].filter(([container]) => container.list === list);
  const byIndex = new Map(changes.map(([{ index }, changed]) => [index, changed]));
  return listOf(spec, list).map((container, index) => {
    const changed = byIndex.get(index);
    if (changed === undefined || !isJsonObject(container)) return container;
    return { ...container, ...listUnlessAbsent(container, "volumeMounts", changed) };
  });
}

/** The injected bundles as the annotation has them: compact, and the same for the same bundles. */
export function generationsText(bundles: readonly ResolvedBundle[]): string | undefined {
  const of = (kind: ResolvedBundle["candidate"]["kind"]): Readonly<Record<string, number>> | undefined => {
    const entries = bundles
      .filter(({ candidate }) => candidate.kind === kind)
      .map(({ candidate, generation }) => [candidate.name, generation] as const)
      .toSorted(([one], [other]) => (one < other ? -1 : 1));
    return entries.length === 0 ? undefined : Object.fromEntries(entries);
  };
  if (bundles.length === 0) return undefined;
  return JSON.stringify({ bundles: of("Bundle"), clusterBundles: of("ClusterBundle") });
}

/** An empty list is not written where there was none. */
function listUnlessAbsent(parent: unknown, field: string, list: readonly unknown[]): JsonObject {
  return list.length === 0 && fieldOf(parent, field) === undefined ? {} : { [field]: list };
}

function withRecords(metadata: unknown, { generations, volumes }: Records): unknown {
  const known = isJsonObject(metadata) ? metadata : {};
  const all = fieldOf(known, "annotations");
  const others = isJsonObject(all) ? withoutFields(all, ours) : {};
  if (generations === undefined || volumes === undefined)
    return all === undefined ? metadata : { ...known, annotations: others };
  const records = { [annotations.generations]: generations, [annotations.volumes]: volumes };
  return { ...known, annotations: { ...others, ...records } };
}

const ours: ReadonlySet<string> = new Set([annotations.generations, annotations.volumes]);

function partOf(pod: JsonObject, parent: string, field: string): JsonObject {
  const whole = fieldOf(pod, parent);
  return isJsonObject(whole) ? { [parent]: { [field]: fieldOf(whole, field) } } : {};
}
