import type { JsonObject } from "@quartermaster/runtime";

import { imageOf, present } from "./pod-settings.ts";
import type { ClusterObject } from "./read-cluster.ts";
import type { ImageSettings } from "./search-cluster.ts";

type StringMap = Readonly<Record<string, string>>;

/** Labels and annotations that the author adds to objects. */
export interface ObjectMetadata {
  readonly labels: StringMap;
  readonly annotations: StringMap;
}

/** The Service for clients. */
export interface ClientServiceSettings extends ObjectMetadata {
  readonly type: string;
  readonly loadBalancerClass: string | undefined;
  readonly externalTrafficPolicy: string | undefined;
  readonly sourceRanges: readonly string[];
}

/** Init containers besides the engine's own needs. */
export interface HelperSettings {
  /** Of the container that raises vm.max_map_count (default: the engine's). */
  readonly image: ImageSettings | undefined;
  readonly resources: JsonObject | undefined;
}

type General = ClusterObject["spec"]["general"];

/** Labels and annotations of all objects of the cluster. */
export function readCommonMetadata({ commonLabels = {}, commonAnnotations = {} }: General): ObjectMetadata {
  return { labels: ownerless(commonLabels), annotations: ownerless(commonAnnotations) };
}

/** Without the operator's own labels and annotations: they say whose an object is, and no author decides that. */
export function ownerless(map: StringMap): StringMap {
  return Object.fromEntries(
    Object.entries(map).filter(([key]) => !key.startsWith("search.quartermaster.dev/")),
  );
}

/** Reads `general.service`, and the annotations that all Services of nodes get. */
export function readClientService({ service = {} }: General): ClientServiceSettings {
  const { type = "ClusterIP", labels = {}, annotations = {}, loadBalancerSourceRanges = [] } = service;
  return {
    type,
    labels: ownerless(labels),
    annotations: ownerless(annotations),
    loadBalancerClass: present(service.loadBalancerClass),
    externalTrafficPolicy: service.externalTrafficPolicy,
    sourceRanges: loadBalancerSourceRanges,
  };
}

/** Reads `initHelper`; undefined where the kind has none, or nothing is set. */
export function readHelper(spec: ClusterObject["spec"]): HelperSettings | undefined {
  const helper = "initHelper" in spec ? spec.initHelper : undefined;
  if (helper === undefined) return undefined;
  const { resources } = helper;
  const [image, version] = [present(helper.image), present(helper.version)];
  const repository = spec.general.defaultRepo ?? "docker.io";
  const settings = imageOf(helper, `${repository}/busybox:${version ?? "latest"}`);
  const isImageGiven = image !== undefined || version !== undefined;
  if (!isImageGiven && resources === undefined) return undefined;
  return { image: isImageGiven ? settings : undefined, resources };
}
