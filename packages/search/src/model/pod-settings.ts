import type { JsonObject } from "@quartermaster/runtime";

import type { ImageSettings, PodSettings } from "./search-cluster.ts";

/** Fields of pods as the spec has them, on whichever level. */
export interface PodFields {
  readonly affinity?: JsonObject | undefined;
  readonly env?: readonly JsonObject[] | undefined;
  readonly hostAliases?: readonly JsonObject[] | undefined;
  readonly hostNetwork?: boolean | undefined;
  readonly nodeSelector?: Readonly<Record<string, string>> | undefined;
  readonly podSecurityContext?: JsonObject | undefined;
  readonly priorityClassName?: string | undefined;
  readonly securityContext?: JsonObject | undefined;
  readonly tolerations?: readonly JsonObject[] | undefined;
  readonly topologySpreadConstraints?: readonly JsonObject[] | undefined;
}

/** The text, unless it is absent or empty: upstream's defaults fill names with "". */
export function present(text: string | undefined): string | undefined {
  return text === undefined || text === "" ? undefined : text;
}

/** The name that a reference has, if it has one. */
export function nameIn(reference: { readonly name?: string | undefined } | undefined): string | undefined {
  return present(reference?.name);
}

/** Settings of pods: labels and annotations besides their fields. */
export function podSettingsOf(
  fields: PodFields & {
    readonly labels?: Readonly<Record<string, string>> | undefined;
    readonly annotations?: Readonly<Record<string, string>> | undefined;
    readonly additionalVolumes?: readonly JsonObject[] | undefined;
  },
): PodSettings {
  const { labels = {}, annotations = {}, additionalVolumes = [] } = fields;
  return {
    labels,
    annotations,
    spec: podSpecOf(fields),
    container: containerOf(fields),
    sidecars: [],
    initContainers: [],
    volumes: additionalVolumes,
    setsMaxMapCount: false,
  };
}

/** Fields of a pod's spec. */
function podSpecOf(fields: PodFields): JsonObject {
  const { affinity, hostAliases, hostNetwork, nodeSelector, priorityClassName } = fields;
  return withoutUndefined({
    affinity,
    hostAliases,
    nodeSelector,
    hostNetwork: hostNetwork === true ? true : undefined,
    priorityClassName: present(priorityClassName),
    securityContext: fields.podSecurityContext,
    tolerations: fields.tolerations,
    topologySpreadConstraints: fields.topologySpreadConstraints,
  });
}

/** Fields of a container. */
function containerOf({ env, securityContext }: PodFields): JsonObject {
  return withoutUndefined({ env, securityContext });
}

/** The image that is requested, or the default. */
export function imageOf(
  settings: {
    readonly image?: string | undefined;
    readonly imagePullPolicy?: string | undefined;
    readonly imagePullSecrets?: readonly { readonly name?: string | undefined }[] | undefined;
  },
  byDefault: string,
): ImageSettings {
  return {
    name: present(settings.image) ?? byDefault,
    pullPolicy: present(settings.imagePullPolicy),
    pullSecrets: (settings.imagePullSecrets ?? []).flatMap(({ name }) => present(name) ?? []),
  };
}

function withoutUndefined(fields: Readonly<Record<string, unknown>>): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
