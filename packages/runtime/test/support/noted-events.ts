import { objectOf } from "../../src/informers/informer-event.ts";
import type { InformerHandle, InformerPool } from "../../src/informers/informer-pool.ts";
import type { KubeObject } from "../../src/object/kube-object.ts";
import type { ConfigMap } from "./kinds.ts";
import { configMaps } from "./kinds.ts";

/** An informer on the ConfigMaps of a namespace, with all that its handlers heard: `added a`, `updated a`. */
export interface NotedInformer {
  readonly handle: InformerHandle<ConfigMap>;
  readonly heard: readonly string[];
}

/** Watches and takes notes. */
export function noteConfigMaps(pool: InformerPool, namespace: string): NotedInformer {
  const heard: string[] = [];
  const handle = pool.acquire<ConfigMap>({ kind: configMaps, namespace });
  handle.addHandler((event) => heard.push(`${event.type} ${objectOf(event).metadata.name}`));
  return { handle, heard };
}

/** Names and versions, in a fixed order: what two views of a cluster are compared by. */
export function picture(objects: readonly KubeObject[]): readonly string[] {
  return objects.map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`).toSorted();
}
