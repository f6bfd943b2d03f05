import {
  digestOf,
  fieldOf,
  type FollowView,
  isJsonObject,
  type KubeObject,
  type Live,
} from "@quartermaster/runtime";

type Projection = NonNullable<FollowView["projection"]>;

/**
 * Keeps at most so much of the data of a Secret or ConfigMap in memory: our labels, and a reference in a spec, are a tenant's to write, and an
 * object may have 1 MiB. Of a larger one each value is replaced by its digest, so that a change is still a change.
 */
export function boundedData(mostKib: number): Projection {
  return { name: `data up to ${String(mostKib)} KiB`, project: (object) => bounded(object, mostKib * 1024) };
}

/** For Secrets and ConfigMaps that are followed by name. */
export const followedData: FollowView = { projection: boundedData(64) };

/** For security files, of which 256 KiB are read: so much in base64. */
export const followedFiles: FollowView = { projection: boundedData(384) };

/** For the record of what was applied, which we write ourselves, as large as an object may be. */
export const followedRecord: FollowView = { projection: boundedData(1024) };

function bounded(object: Live, most: number): KubeObject {
  const [data, binaryData] = [fieldOf(object, "data"), fieldOf(object, "binaryData")];
  if (sizeOf(data) + sizeOf(binaryData) <= most) return object;
  return { ...object, ...digests("data", data), ...digests("binaryData", binaryData) };
}

function sizeOf(values: unknown): number {
  if (!isJsonObject(values)) return 0;
  return Object.entries(values).reduce((sum, [key, value]) => sum + key.length + String(value).length, 0);
}

function digests(field: string, values: unknown): object {
  if (!isJsonObject(values)) return {};
  const entries = Object.entries(values).map(([key, value]) => [key, `${cut}${digestOf(value)}`] as const);
  return { [field]: Object.fromEntries(entries) };
}

/** No base64 has a colon. */
const cut = "sha256:";

/** Whether a value was replaced because its object is too large. */
export function isCut(value: string | undefined): boolean {
  return value?.startsWith(cut) === true;
}
