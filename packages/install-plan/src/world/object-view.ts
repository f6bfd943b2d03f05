import {
  type InformerRequest,
  isJsonObject,
  type JsonObject,
  type Kind,
  type KubeObject,
} from "@quartermaster/runtime";

import { planIdLabel } from "../owner-labels.ts";

/** How objects of plans are watched: only labelled ones, with who owns which field, without their bulk. */
export function watchFor(kind: Kind): InformerRequest {
  return { kind, labelSelector: planIdLabel, keepManagedFields: true, projection: objectView };
}

/**
 * What is kept of an object: owner labels, ownership of fields, status and what health needs of the spec. The values of Secrets
 * and ConfigMaps, the schemas of CRDs and pod templates are dropped: changes show in the ownership of fields.
 */
const objectView = { name: "plan", project: projectObject };

function projectObject(object: KubeObject): KubeObject {
  const { apiVersion, kind, metadata, ...content } = object;
  const kept = keptContent(kind, content);
  return { apiVersion, kind, metadata: withoutBulk(metadata), ...kept };
}

function keptContent(kind: string, content: JsonObject): JsonObject {
  const { data: _data, binaryData: _binary, stringData: _string, spec, ...rest } = content;
  if (!isJsonObject(spec)) return rest;
  if (kind === "CustomResourceDefinition")
    return { ...rest, spec: { ...spec, versions: bareVersions(spec) } };
  const { template: _template, ...keptSpec } = spec;
  return { ...rest, spec: keptSpec };
}

function bareVersions({ versions }: JsonObject): readonly JsonObject[] {
  if (!Array.isArray(versions)) return [];
  return versions.filter(isJsonObject).map(({ name, served, storage, subresources }) => ({
    name,
    served,
    storage,
    ...(subresources === undefined ? {} : { subresources }),
  }));
}

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";

function withoutBulk(metadata: KubeObject["metadata"]): KubeObject["metadata"] {
  const { annotations } = metadata;
  if (annotations?.[lastApplied] === undefined) return metadata;
  const { [lastApplied]: _dropped, ...kept } = annotations;
  return { ...metadata, annotations: kept };
}
