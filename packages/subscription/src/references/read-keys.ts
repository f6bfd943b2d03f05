import {
  classify,
  type Context,
  type InformerRequest,
  type Kind,
  type KubeObject,
  type Live,
} from "@quartermaster/runtime";
import { configMaps, secrets } from "@quartermaster/runtime/kinds";

import {
  type KeyFacts,
  type ObjectIdentity,
  type Reference,
  referenceKey,
} from "../injection/injection-facts.ts";
import type { KnownKeys } from "./known-keys.ts";

/**
 * Follows every object that the references name and gives the names of its keys. Each has a watch of its own, by name; nothing
 * lists Secrets. Throws while a watch is not answered yet, after all of them have been opened.
 */
export function readKeys(references: readonly Reference[], ctx: Pick<Context, "follow">): KnownKeys {
  const known = new Map<string, KeyFacts>();
  const unanswered: unknown[] = [];
  for (const { object } of references) {
    const key = referenceKey(object);
    if (known.has(key)) continue;
    const { kind, projection } = keyNamesOf(object);
    try {
      const found = ctx.follow(kind, object, { projection });
      known.set(key, found === undefined ? { kind: "missing" } : { kind: "keys", keys: found.keyNames });
    } catch (error) {
      if (classify(error) === "forbidden") known.set(key, { kind: "forbidden" });
      else unanswered.push(error);
    }
  }
  if (unanswered.length > 0) throw unanswered[0];
  return known;
}

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

/** What is kept of a Secret or ConfigMap. */
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
    const names = [...keysIn(rest, "data"), ...keysIn(rest, "binaryData")];
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
