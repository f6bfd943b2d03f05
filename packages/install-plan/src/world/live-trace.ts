import { fieldOf, type KubeObject } from "@quartermaster/runtime";

import { digestOf } from "../manifest/canonical-json.ts";

/**
 * What tells a live object from itself after a change that a preview would have to show: its uid and its content without what
 * the server and controllers write. Stores keep no data of ConfigMaps and Secrets and no pod templates, so that the generation
 * stands for these; kinds without one and without a status, such as ConfigMaps, Secrets and Roles, change their resourceVersion
 * with their content only.
 */
export function liveTrace(live: KubeObject): string {
  const { metadata, ...rest } = live;
  const { uid, resourceVersion, generation, managedFields: _fields, ...kept } = metadata;
  const hasStatus = fieldOf(live, "status") !== undefined;
  const version = generation ?? (hasStatus ? "" : resourceVersion);
  return digestOf([uid, version, kept, { ...rest, status: undefined }]);
}

/** The same for an object of which only metadata was read. */
export function metadataTrace({ metadata }: KubeObject): string {
  const { uid, generation, resourceVersion, labels } = metadata;
  return digestOf([uid, generation ?? resourceVersion, labels]);
}
