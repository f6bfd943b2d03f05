import {
  classify,
  type Context,
  ExternalError,
  type InformerRequest,
  type Kind,
  type KubeObject,
  type Live,
} from "@quartermaster/runtime";
import { configMaps, secrets } from "@quartermaster/runtime/kinds";

import {
  type KeyFacts,
  keyFactsOf,
  type ObjectIdentity,
  objectKeyLimit,
  type Reference,
  referenceKey,
} from "../injection/injection-facts.ts";

/**
 * Follows every object that the references name and gives the names of its keys. Each has a watch of its own, by name; nothing
 * lists Secrets. Where all watches are taken, the object is read instead: `isPolled` then says that it has to be read again. Throws
 * while a watch has no response yet, after all of them have been opened.
 */
export async function readKeys(
  references: readonly Reference[],
  ctx: Pick<Context, "follow" | "client" | "signal">,
): Promise<{ readonly keys: KnownKeys; readonly isPolled: boolean }> {
  const keys = new Map<string, KeyFacts>();
  const unwatched: ObjectIdentity[] = [];
  const unconfirmed: unknown[] = [];
  for (const { object } of references) {
    const key = referenceKey(object);
    if (keys.has(key)) continue;
    const { kind, projection } = keyNamesOf(object);
    try {
      keys.set(key, keyFactsOf(ctx.follow(kind, object, { projection })?.keyNames));
    } catch (error) {
      if (error instanceof ExternalError) unwatched.push(object);
      else if (classify(error) === "forbidden") keys.set(key, { kind: "forbidden" });
      else unconfirmed.push(error);
    }
  }
  if (unconfirmed.length > 0) throw unconfirmed[0];
  for (const object of unwatched) keys.set(referenceKey(object), await readOnce(object, ctx));
  return { keys, isPolled: unwatched.length > 0 };
}

/** Watches of other bundles take all room: what a watch would say, by one request. */
async function readOnce(
  object: ObjectIdentity,
  { client, signal }: Pick<Context, "client" | "signal">,
): Promise<KeyFacts> {
  const { kind, namespace, name } = object;
  try {
    const limits = { signal, textLimitBytes: keyLimitBytes };
    const found = await client.find(kind === "Secret" ? secrets : configMaps, { namespace, name }, limits);
    return keyFactsOf(found === undefined ? undefined : keyNames.project(found).keyNames);
  } catch (error) {
    if (classify(error) !== "forbidden") throw error;
    return { kind: "forbidden" };
  }
}

/** Objects without a watch are read again after this long. */
export const pollMs = 60_000;

/** A watch of one object by its name, of which only the names of its keys are kept. */
export function keyNamesOf({
  kind,
  namespace,
  name,
}: ObjectIdentity): InformerRequest<KeyNames> & { readonly projection: typeof keyNames } {
  return {
    kind: kindOf(kind),
    namespace,
    fieldSelector: `metadata.name=${name}`,
    projection: keyNames,
  };
}

export interface KeyNames extends KubeObject {
  readonly keyNames: readonly string[];
}

/** Names of keys have at most 253 characters, and so have those of objects. Anything longer is a value. */
export const keyLimitBytes = 512;

/**
 * Keeps the names of the keys. Values are dropped before anything is stored, and so are annotations: kubectl keeps a copy of the
 * values in one of them.
 */
export const keyNames = {
  name: "keyNames",
  textLimitBytes: keyLimitBytes,
  project: ({ apiVersion, kind, metadata, ...rest }: Live): KeyNames => {
    const { name, namespace, uid, resourceVersion } = metadata;
    // One more than may be used shows that there are too many; others are not even sorted.
    const names = [...keysIn(rest, "data"), ...keysIn(rest, "binaryData")].slice(0, objectKeyLimit + 1);
    return {
      apiVersion,
      kind,
      metadata: { name, namespace, uid, resourceVersion },
      keyNames: names.toSorted(),
    };
  },
} as const;

function keysIn(content: object, field: "data" | "binaryData"): readonly string[] {
  const values: unknown = Object.hasOwn(content, field) ? Reflect.get(content, field) : undefined;
  return typeof values === "object" && values !== null ? Object.keys(values) : [];
}

function kindOf(kind: "Secret" | "ConfigMap"): Kind<KeyNames> {
  const source: Kind = kind === "Secret" ? secrets : configMaps;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the projection decides what the store holds
  return source as Kind<KeyNames>;
}

/** Facts about objects, by `referenceKey`. Never their values. */
export type KnownKeys = ReadonlyMap<string, KeyFacts>;

/** The object as messages name it. */
export function describeObject({ kind, namespace, name }: ObjectIdentity): string {
  return `${kind} ${namespace}/${name}`;
}
