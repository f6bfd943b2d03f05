import { definedFields, digestOf } from "@quartermaster/runtime";

import type { SubscriptionSettings } from "../subscription-settings.ts";
import type { Purpose } from "./injection-facts.ts";
import { volumeNames } from "./our-paths.ts";
import type { Source } from "./resolve-bundle.ts";
import type { Collected } from "./source-collection.ts";

/** A volume that a pod is to have, before it has a name. */
export interface DesiredVolume {
  readonly purpose: Purpose;
  /** Everything but the name. */
  readonly source: VolumeSource;
  /** Files that are mounted when files are mounted one by one. */
  readonly files: readonly VolumeFile[];
  /** Its root holds these files under these names and nothing else. */
  readonly isDirectory: boolean;
}

/** A file of a volume: where it is in the volume, and how it is called in the container. */
export interface VolumeFile {
  readonly subPath: string;
  readonly path: string;
}

export type VolumeSource =
  | { readonly projected: { readonly sources: readonly object[]; readonly defaultMode?: number } }
  | {
      readonly csi: {
        readonly driver: string;
        readonly readOnly: true;
        readonly volumeAttributes: Readonly<Record<string, string>>;
      };
    };

/** The volumes for all sources: repositories first, then entitlements; projected ones first, then those of shares. */
export function desiredVolumes(
  collected: Collected,
  settings: SubscriptionSettings,
): readonly DesiredVolume[] {
  const purposes = ["repository", "entitlement"] as const;
  return purposes.flatMap((purpose) => {
    const sources = collected.sources.filter((source) => source.purpose === purpose);
    return [...projectedVolume(purpose, sources, collected), ...shareVolumes(purpose, sources, settings)];
  });
}

/** A name that depends on nothing but the content, so that a second call finds the volume of the first. */
export function hashedName({ purpose, source }: DesiredVolume, attempt: number): string {
  return `${volumeNames[purpose]}-${digestOf(attempt === 0 ? source : [source, attempt]).slice(0, 8)}`;
}

function projectedVolume(
  purpose: Purpose,
  all: readonly Source[],
  collected: Collected,
): readonly DesiredVolume[] {
  const sources = all.filter(({ share }) => share === undefined);
  if (sources.length === 0) return [];
  const defaultMode = strictestMode(collected, purpose);
  const projected = definedFields({ sources: sources.map(projectionOf), defaultMode });
  const files = sources.flatMap((source) => source.files.map(({ path }) => ({ subPath: path, path })));
  return [{ purpose, source: { projected }, files, isDirectory: true }];
}

function projectionOf({ object, items, isOptional, files }: Source): object {
  const { kind, name } = object;
  const projection = {
    name,
    // Items of an object that does not exist would be all its keys to come, if the list were empty.
    ...(items === undefined || files.length === 0
      ? {}
      : { items: items.map(({ key, path }) => ({ key, path })) }),
    ...(isOptional ? { optional: true } : {}),
  };
  return kind === "Secret" ? { secret: projection } : { configMap: projection };
}

/** A bit is set only if every bundle of the volume sets it; a bundle that says nothing means 0644. */
function strictestMode({ bundles }: Collected, purpose: Purpose): number | undefined {
  const modes = bundles
    .filter(({ candidate }) => candidate.kind === "Bundle")
    .filter(({ sources }) => sources.some((source) => source.purpose === purpose))
    .map(({ defaultMode }) => defaultMode);
  if (modes.every((mode) => mode === undefined)) return undefined;
  return modes.reduce<number>((all, mode) => all & (mode ?? 0o644), 0o777);
}

function shareVolumes(
  purpose: Purpose,
  all: readonly Source[],
  settings: SubscriptionSettings,
): readonly DesiredVolume[] {
  const shared = all.flatMap(({ share, ...source }) => (share === undefined ? [] : [{ ...source, share }]));
  const plain = shared.filter(({ items }) => items === undefined);
  // A driver gives files their keys' names: with others they have to be mounted one by one, from a volume of their own.
  const renamed = shared.filter(({ items }) => items !== undefined);
  const groups = settings.profile === "seed" && plain.length > 0 ? [plain] : plain.map((source) => [source]);
  return [
    ...groups.map((group) => shareVolume(purpose, group, { settings, isDirectory: true })),
    ...renamed.map((source) => shareVolume(purpose, [source], { settings, isDirectory: false })),
  ];
}

type SharedSource = Omit<Source, "share"> & { readonly share: string };

function shareVolume(
  purpose: Purpose,
  group: readonly SharedSource[],
  { settings, isDirectory }: { readonly settings: SubscriptionSettings; readonly isDirectory: boolean },
): DesiredVolume {
  const volumeAttributes = attributesOf(group, settings);
  return {
    purpose,
    source: { csi: { driver: settings.driver, readOnly: true, volumeAttributes } },
    files: group.flatMap(({ files }) => files.map(({ key, path }) => ({ subPath: key, path }))),
    isDirectory,
  };
}

/** The API server takes only strings: the list of the seed profile is JSON text. */
function attributesOf(
  group: readonly SharedSource[],
  { profile }: SubscriptionSettings,
): Readonly<Record<string, string>> {
  if (profile === "seed")
    return { sources: JSON.stringify(group.map(({ share }) => ({ share: { name: share } }))) };
  const [{ object, share } = { object: undefined, share: "" }] = group;
  return object?.kind === "Secret" ? { sharedSecret: share } : { sharedConfigMap: share };
}
