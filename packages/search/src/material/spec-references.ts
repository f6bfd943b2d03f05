import { fieldOf, type JsonObject, listOf, textOf } from "@quartermaster/runtime";

import type { SearchCluster } from "../model/search-cluster.ts";

/** An object that the spec names and that has to exist. */
export interface Reference {
  readonly kind: "Secret" | "ConfigMap";
  readonly name: string;
}

/**
 * Objects that the spec names and of which only the existence matters to us: files of users, sources of volumes, pull secrets. Without
 * them kubelet waits in silence, or goes on without them. Those whose keys are read are checked where they are read.
 */
export function specReferences({
  security,
  image,
  pod,
  pools,
  dashboards,
}: SearchCluster): readonly Reference[] {
  const files = security.isEnabled ? security.securityConfigSecret : undefined;
  const pods = [pod, ...pools.map((pool) => pool.pod), ...(dashboards === undefined ? [] : [dashboards.pod])];
  return [
    ...(files === undefined ? [] : [secret(files)]),
    ...[...image.pullSecrets, ...(dashboards?.image.pullSecrets ?? [])].map(secret),
    ...pods.flatMap(({ volumes }) => volumes).flatMap(volumeReferences),
  ];
}

function secret(name: string): Reference {
  return { kind: "Secret", name };
}

function volumeReferences(volume: JsonObject): readonly Reference[] {
  const projected = listOf(fieldOf(volume, "projected"), "sources");
  return [volume, ...projected].flatMap((source) => [
    ...named("Secret", fieldOf(source, "secret")),
    ...named("ConfigMap", fieldOf(source, "configMap")),
  ]);
}

/** Volumes call it `secretName`, projected sources and ConfigMaps `name`. An optional one may be absent. */
function named(kind: Reference["kind"], source: unknown): readonly Reference[] {
  const name = textOf(source, "secretName") ?? textOf(source, "name");
  return name === undefined || fieldOf(source, "optional") === true ? [] : [{ kind, name }];
}

/** Whether an object can have the name: others would reach a selector or a path. */
export function isObjectName(name: string): boolean {
  return name.length <= 253 && /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(name);
}

/** What the user has to create; what we make ourselves is not among it. */
export function missingReferences(missing: readonly string[]): readonly string[] {
  return missing.filter((what) => !what.startsWith("own "));
}
