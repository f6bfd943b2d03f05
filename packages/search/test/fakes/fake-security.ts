import { fieldOf, isJsonObject, type JsonObject } from "@quartermaster/runtime";

import {
  type SecurityDocuments,
  type SecurityDocumentType,
  securityDocumentTypes,
  type SecurityEntityType,
} from "../../src/engine/engine-client.ts";
import { EngineError } from "../../src/engine/engine-error.ts";
import type { FakeCluster } from "./fake-cluster.ts";

export const fakeSecurity = {
  init: initSecurity,
  isComplete,
  entities: entitiesOf,
  put: putEntity,
  delete: deleteEntity,
};

/** Roles that the plugin brings along; writing one breaks its document. */
const staticRoles = [
  "all_access",
  "readall",
  "readall_and_monitor",
  "own_index",
  "logstash",
  "kibana_server",
];

const flags = { reserved: false, hidden: false, static: false };

/** Creates what is missing and overwrites nothing; up to so many documents, then it breaks off. Gives what it created. */
function initSecurity(
  cluster: FakeCluster,
  documents: SecurityDocuments,
  { nowMs, mostDocuments }: { readonly nowMs: number; readonly mostDocuments: number },
): readonly SecurityDocumentType[] {
  const security = cluster.security ?? new Map<string, Map<string, JsonObject>>();
  const missing = securityDocumentTypes.filter((type) => type in documents && !security.has(type));
  const created = missing.slice(0, Math.max(0, mostDocuments - security.size));
  for (const type of created) {
    const named = Object.entries(documents[type]).filter(([, body]) => isJsonObject(body));
    security.set(type, new Map(named.map(([name, body]) => [name, isJsonObject(body) ? body : {}])));
  }
  const since = isComplete(security) ? (cluster.securedMs ?? nowMs) : undefined;
  if (cluster.security === undefined)
    cluster.shards.put({ name: ".opendistro_security", shards: 1, replicas: "0-all", documents: 6 });
  cluster.secure(security, since);
  if (created.length === missing.length) return created;
  throw new EngineError("initSecurity: not all documents were written", { code: "unavailable" });
}

/** Only then nodes take any of them. */
function isComplete(security: FakeCluster["security"]): boolean {
  return securityDocumentTypes.every((type) => security?.has(type) === true);
}

/** Entities by name, as the API shows them: without hashes and passwords. */
function entitiesOf(cluster: FakeCluster, type: SecurityEntityType): ReadonlyMap<string, JsonObject> {
  const shown = new Map<string, JsonObject>();
  if (type === "roles")
    for (const name of staticRoles) shown.set(name, { ...flags, reserved: true, static: true });
  for (const [name, body] of documentOf(cluster, type)) shown.set(name, shownAs(type, body));
  return shown;
}

/** Writes one entity as the plugin does. */
function putEntity(
  cluster: FakeCluster,
  { type, name }: { readonly type: SecurityEntityType; readonly name: string },
  body: JsonObject,
): void {
  const document = documentOf(cluster, type);
  refuseStatic(type, name);
  if (type === "rolesmapping" && !entitiesOf(cluster, "roles").has(name))
    throw new EngineError(`putEntity: HTTP 404 (role '${name}' is not available)`, {
      code: "notFound",
      status: 404,
    });
  const isReserved = fieldOf(document.get(name), "reserved") === true;
  document.set(name, { ...(isReserved ? { reserved: true } : {}), ...body });
}

/** Deletes one entity; one that is not there is no error. */
function deleteEntity(cluster: FakeCluster, type: SecurityEntityType, name: string): void {
  const document = documentOf(cluster, type);
  refuseStatic(type, name);
  document.delete(name);
}

function documentOf({ security, securedMs }: FakeCluster, type: SecurityEntityType): Map<string, JsonObject> {
  const document = security?.get(type);
  if (document !== undefined && securedMs !== undefined) return document;
  throw new EngineError("HTTP 500 (Security index not initialized)", { code: "unavailable", status: 500 });
}

function refuseStatic(type: SecurityEntityType, name: string): void {
  if (type !== "roles" || !staticRoles.includes(name)) return;
  throw new EngineError(`${type}/${name} is static and cannot be changed`, {
    code: "invalid",
    mayHaveActed: false,
  });
}

function shownAs(type: SecurityEntityType, body: JsonObject): JsonObject {
  if (type !== "internalusers") return { ...flags, ...body };
  const { password: _password, ...rest } = body;
  return { ...flags, ...rest, hash: "" };
}
