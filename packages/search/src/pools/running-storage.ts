import { isDeepStrictEqual } from "node:util";

import { fieldOf, isJsonObject, type Live } from "@quartermaster/runtime";
import type { StatefulSet } from "@quartermaster/runtime/kinds";

import { quantityBytes } from "../model/quantity-units.ts";
import type { PoolStorage, SearchCluster } from "../model/search-cluster.ts";
import type { Seen } from "../seen.ts";
import { dataVolume } from "../workload/pool-volumes.ts";

/**
 * The declaration with the storage that the StatefulSets have: Kubernetes never changes the claim templates of one, and an apply that
 * tries is refused as a whole, with every other change of the pool. What differs is held and named.
 */
export function withRunningStorage(
  cluster: SearchCluster,
  sets: Seen["statefulSets"],
): Pick<Seen, "cluster" | "heldStorage"> {
  const found = cluster.pools.map((pool) => {
    const set = sets.get(pool.name);
    const running = set === undefined ? undefined : storageIn(set);
    const differences = running === undefined ? [] : differencesOf(pool.storage, running);
    return {
      pool: running === undefined || differences.length === 0 ? pool : { ...pool, storage: running },
      held: differences.map((difference) => `${pool.name}: ${difference}`),
    };
  });
  const heldStorage = found.flatMap(({ held }) => held);
  if (heldStorage.length === 0) return { cluster, heldStorage };
  return { cluster: { ...cluster, pools: found.map(({ pool }) => pool) }, heldStorage };
}

/** The storage that pods of the StatefulSet have; undefined where it cannot be read. */
function storageIn({ spec }: Live<StatefulSet>): PoolStorage | undefined {
  const claim = spec.volumeClaimTemplates?.find(({ metadata }) => metadata.name === dataVolume);
  if (claim !== undefined) return claimedStorage(claim);
  const volume = spec.template.spec?.volumes?.find(({ name }) => name === dataVolume);
  const kind = (["emptyDir", "hostPath"] as const).find((each) => isJsonObject(fieldOf(volume, each)));
  const source = kind === undefined ? undefined : fieldOf(volume, kind);
  return kind === undefined || !isJsonObject(source) ? undefined : { kind, source };
}

type ClaimTemplate = NonNullable<StatefulSet["spec"]["volumeClaimTemplates"]>[number];

function claimedStorage({ metadata, spec = {} }: ClaimTemplate): PoolStorage {
  const { resources, storageClassName, accessModes = [] } = spec;
  const { labels = {}, annotations = {} } = metadata;
  return {
    kind: "volume",
    size: resources?.requests?.["storage"] ?? "",
    storageClass: storageClassName,
    accessModes,
    labels,
    annotations,
  };
}

function differencesOf(declared: PoolStorage, running: PoolStorage): readonly string[] {
  // Between emptyDir and hostPath, and within each, only the pod template differs, which restarts bring about.
  if (declared.kind !== "volume" && running.kind !== "volume") return [];
  if (declared.kind !== "volume" || running.kind !== "volume")
    return [`persistence (${labelOf(running)}, ${labelOf(declared)} is declared)`];
  const { size, storageClass, accessModes } = running;
  const isSame = {
    [`diskSize (${size}, ${declared.size} is declared)`]:
      quantityBytes(size) === quantityBytes(declared.size),
    [`storageClass (${storageClass ?? "the default"})`]:
      declared.storageClass === undefined || declared.storageClass === storageClass,
    [`accessModes (${accessModes.join(", ")})`]: isDeepStrictEqual(accessModes, declared.accessModes),
    "labels or annotations of claims":
      isWithin(declared.labels, running.labels) && isWithin(declared.annotations, running.annotations),
  };
  return Object.entries(isSame).flatMap(([what, same]) => (same ? [] : [what]));
}

function labelOf({ kind }: PoolStorage): string {
  return kind === "volume" ? "claims" : kind;
}

function isWithin(part: Readonly<Record<string, string>>, whole: Readonly<Record<string, string>>): boolean {
  return Object.entries(part).every(([key, value]) => whole[key] === value);
}

/** The StatefulSet to apply, with what Kubernetes never changes as the live one has it. What is the same is applied as we render it. */
export function withFixedFields(wanted: StatefulSet, live: Live<StatefulSet> | undefined): StatefulSet {
  if (live === undefined) return wanted;
  const { volumeClaimTemplates: own = [], ...spec } = wanted.spec;
  const { serviceName, volumeClaimTemplates: fixed = [] } = live.spec;
  // The server adds defaults to a template: they are not ours to apply.
  const templates = isPartOf(own, fixed) ? own : fixed;
  return {
    ...wanted,
    spec: {
      ...spec,
      // Pods find each other by the discovery Service; this one only completes their own names.
      ...(serviceName === undefined ? {} : { serviceName }),
      ...(templates.length === 0 ? {} : { volumeClaimTemplates: templates }),
    },
  };
}

/** Whether everything that the part says stands in the whole. */
function isPartOf(part: unknown, whole: unknown): boolean {
  if (Array.isArray(part))
    return (
      Array.isArray(whole) &&
      part.length === whole.length &&
      part.every((each, at) => isPartOf(each, whole[at]))
    );
  if (!isJsonObject(part)) return part === whole;
  return Object.entries(part).every(([key, value]) => isPartOf(value, fieldOf(whole, key)));
}

/** For the user: what is held, and the way to the wanted storage. */
export function heldStorageMessage(heldStorage: readonly string[]): string {
  const list = heldStorage.slice(0, 5).join("; ");
  return `The storage of a pool that runs is not changed yet: ${list}${heldStorage.length > 5 ? " and more" : ""}. Set it back; or add a pool with the new storage and drop this one in the same edit, then its nodes are drained and removed. All other changes are carried out.`;
}
