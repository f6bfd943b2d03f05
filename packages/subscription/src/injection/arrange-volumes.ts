import { canonicalJson, fieldOf, isJsonObject, listOf, textOf, withoutFields } from "@quartermaster/runtime";

import type { SubscriptionSettings } from "../subscription-settings.ts";
import { annotations, valueOf } from "./annotations.ts";
import { type DesiredVolume, hashedName } from "./desired-volumes.ts";
import { volumeNames } from "./our-paths.ts";
import { type PodView, volumeName } from "./pod-view.ts";

/** A desired volume with its name in the pod. */
export interface PlacedVolume extends DesiredVolume {
  readonly name: string;
}

/** Which volumes a pod gets, and which of an earlier injection it loses. */
export interface Placement {
  readonly placed: readonly PlacedVolume[];
  /** All volumes of the pod. */
  readonly volumes: readonly unknown[];
  /** Names of volumes that an earlier injection made, whether they stay or not. */
  readonly earlier: ReadonlySet<string>;
  readonly dropped: ReadonlySet<string>;
}

/**
 * Gives volumes their names. A volume that is there already and says the same is used as it is. One that an earlier injection
 * made is replaced: the pod is the dump of an injected one. Foreign ones are never touched: ours gets another name.
 */
export function arrangeVolumes(
  pod: PodView,
  desired: readonly DesiredVolume[],
  settings: SubscriptionSettings,
): Placement {
  const earlier = earlierVolumes(pod, settings);
  const there = new Map(pod.volumes.map((volume) => [volumeName(volume), volume]));
  const placed: PlacedVolume[] = [];
  for (const volume of desired) {
    const isFree = (name: string): boolean =>
      placed.every((other) => other.name !== name) &&
      (!there.has(name) || earlier.has(name) || isSame(there.get(name), volume));
    placed.push({ ...volume, name: freeName(volume, isFirst(volume, placed), isFree) });
  }
  const byName = new Map(placed.map((volume) => [volume.name, volume]));
  const dropped = new Set([...earlier].filter((name) => !byName.has(name)));
  const kept = pod.volumes.flatMap((volume) => {
    const name = volumeName(volume);
    const ours = byName.get(name);
    if (ours === undefined) return dropped.has(name) ? [] : [volume];
    return [isSame(volume, ours) ? volume : rawVolume(ours)];
  });
  const added = placed.filter(({ name }) => !there.has(name)).map(rawVolume);
  return { placed, volumes: [...kept, ...added], earlier, dropped };
}

/** Volumes of an earlier injection: recorded in the pod, and named and made as ours are, because records can be forged. */
export function earlierVolumes(pod: PodView, settings: SubscriptionSettings): ReadonlySet<string> {
  const recorded = (valueOf(pod.annotations, annotations.volumes) ?? "").split(",", recordLimit);
  const ours = pod.volumes.filter(
    (volume) =>
      recorded.includes(volumeName(volume)) &&
      ourName.test(volumeName(volume)) &&
      isMadeAsOurs(volume, settings),
  );
  return new Set(ours.map(volumeName));
}

/** More volumes than bundles can make for one pod. */
const recordLimit = 1_000;

const ourName = new RegExp(`^(?:${Object.values(volumeNames).join("|")})(?:-[0-9a-f]{8})?$`);

function isMadeAsOurs(volume: unknown, { driver }: SubscriptionSettings): boolean {
  const sources = listOf(fieldOf(volume, "projected"), "sources");
  const isProjected = sources.length > 0 && sources.every(isKeySource);
  return isProjected || textOf(fieldOf(volume, "csi"), "driver") === driver;
}

function isKeySource(source: unknown): boolean {
  return isJsonObject(source) && Object.keys(source).every((key) => key === "secret" || key === "configMap");
}

function isFirst({ purpose }: DesiredVolume, placed: readonly PlacedVolume[]): boolean {
  return placed.every((other) => other.purpose !== purpose);
}

function freeName(volume: DesiredVolume, isOnly: boolean, isFree: (name: string) => boolean): string {
  const plain = volumeNames[volume.purpose];
  if (isOnly && isFree(plain)) return plain;
  let attempt = 0;
  while (!isFree(hashedName(volume, attempt))) attempt += 1;
  return hashedName(volume, attempt);
}

function rawVolume({ name, source }: PlacedVolume): object {
  return { name, ...source };
}

/** The API server fills in the mode that a projected volume omits. */
function isSame(volume: unknown, { source }: DesiredVolume): boolean {
  if (!isJsonObject(volume)) return false;
  const { projected, ...rest } = withoutFields(volume, new Set(["name"]));
  const there = projected === undefined ? rest : { ...rest, projected: withMode(projected) };
  const wanted = "projected" in source ? { projected: withMode(source.projected) } : source;
  return canonicalJson(there) === canonicalJson(wanted);
}

function withMode(projected: unknown): unknown {
  return isJsonObject(projected) ? { defaultMode: 0o644, ...projected } : projected;
}
