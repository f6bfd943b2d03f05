import { fieldOf, isJsonObject, type JsonObject, listOf, type System, textOf } from "@quartermaster/runtime";

import {
  type EngineCall,
  type SecurityDocuments,
  type SecurityDocumentType,
  securityDocumentTypes,
  type SecurityEntityType,
  type TlsLayer,
} from "../../engine/engine-client.ts";
import { EngineError } from "../../engine/engine-error.ts";
import type { EngineWire } from "../../engine/engine-wire.ts";
import { assertAcknowledged, unreadable } from "../../engine/read-response.ts";
import type { MakeDialect, SecurityApi } from "../rest-dialect.ts";

/** OpenSearch 2.x and 3.x. */
export const opensearchRest: MakeDialect = (wire, { isSecured, system }) => ({
  managerTimeout: "cluster_manager_timeout",
  managerMetric: "cluster_manager_node",
  license: undefined,
  security: new OpensearchSecurity(wire, system),
  isServing: async (node) => {
    const path = isSecured ? "/_plugins/_security/health" : "/_nodes/_local/http?filter_path=_nodes";
    const { status } = await wire.one(node, { call: "isServing", method: "GET", path, accepts: [503] });
    return status === 200;
  },
});

/** The index that holds users and roles. */
const securityIndex = "/.opendistro_security";

/** Format of the documents in the security index. */
const configVersion = 2;

/** Times that a write is tried again because another writer came first: all entities of a type are one document. */
const conflictLimit = 4;
const conflictDelayMs = 100;

/** The REST API of the security plugin, by the administrator's client certificate. */
class OpensearchSecurity implements SecurityApi {
  readonly #wire: EngineWire;
  readonly #system: Pick<System, "sleep">;
  readonly #turns = new Map<SecurityEntityType, Promise<unknown>>();

  constructor(wire: EngineWire, system: Pick<System, "sleep">) {
    this.#wire = wire;
    this.#system = system;
  }

  /** By id and without content: a search would not see what was just written, and hashes are of no use here. */
  async hasIndex(): Promise<boolean> {
    const call = "hasSecurityIndex";
    const { value, status } = await this.#wire.any({
      call,
      method: "POST",
      path: `${securityIndex}/_mget?_source=false`,
      body: { ids: securityDocumentTypes },
    });
    const found = listOf(value, "docs");
    if (found.length !== securityDocumentTypes.length)
      throw unreadable(call, "the response does not come from the engine", status);
    const states = found.map(documentState);
    if (states.includes("unknown"))
      throw new EngineError(`${call}: documents cannot be read now`, { code: "unavailable", status });
    return states.every((state) => state === "there");
  }

  async init(documents: SecurityDocuments): Promise<readonly SecurityDocumentType[]> {
    await this.#createIndex();
    const lines = Object.entries(documents).flatMap(([type, entries]) => {
      const content = JSON.stringify({ _meta: { type, config_version: configVersion }, ...entries });
      return [{ create: { _id: type } }, { [type]: Buffer.from(content).toString("base64") }];
    });
    const { value } = await this.#wire.any({
      call: "initSecurity",
      method: "POST",
      path: `${securityIndex}/_bulk?refresh=true`,
      body: lines.map((line) => `${JSON.stringify(line)}\n`).join(""),
      isSecret: true,
    });
    return createdDocuments(value, Object.keys(documents).length);
  }

  async list(type: SecurityEntityType): Promise<ReadonlyMap<string, JsonObject>> {
    const { value } = await this.#wire.any({ call: "entities", method: "GET", path: pathOf(type) });
    if (!isJsonObject(value)) throw unreadable("entities", "the response is no object");
    const entities = new Map<string, JsonObject>();
    for (const [name, body] of Object.entries(value)) {
      if (!isJsonObject(body)) throw unreadable("entities", "an entity is no object");
      if (name !== "_meta") entities.set(name, body);
    }
    return entities;
  }

  async put(type: SecurityEntityType, name: string, body: JsonObject): Promise<void> {
    const call = "putEntity";
    await this.#inTurn(type, async () => {
      const now = await this.#mutable(call, type, name);
      // A PUT without the flag would clear it.
      const flags = fieldOf(now, "reserved") === true ? { reserved: true } : {};
      const path = pathOf(type, name);
      const isSecret = type === "internalusers";
      await this.#wire.any({ call, method: "PUT", path, body: { ...flags, ...body }, isSecret });
    });
  }

  async delete(type: SecurityEntityType, name: string): Promise<void> {
    const call = "deleteEntity";
    await this.#inTurn(type, async () => {
      const now = await this.#mutable(call, type, name);
      if (now === undefined) return;
      await this.#wire.any({ call, method: "DELETE", path: pathOf(type, name), accepts: [404] });
    });
  }

  /** The first of the list is the certificate; the rest is its chain. */
  async transportEndMs(node: string): Promise<number> {
    const call = "transportCertificateEndMs";
    const path = "/_plugins/_security/api/ssl/certs";
    const { value, status } = await this.#wire.one(node, { call, method: "GET", path });
    const endMs = Date.parse(textOf(listOf(value, "transport_certificates_list")[0], "not_after") ?? "");
    if (Number.isNaN(endMs)) throw unreadable(call, "the response names no certificate", status);
    return endMs;
  }

  async reload(node: string, layer: TlsLayer): Promise<void> {
    const path = `/_plugins/_security/api/ssl/${layer}/reloadcerts`;
    try {
      await this.#wire.one(node, { call: "reloadCertificates", method: "PUT", path });
    } catch (error) {
      // The plugin's 500 here is about the files that we gave it, not about its own state.
      if (!(error instanceof EngineError) || error.status !== 500) throw error;
      throw new EngineError(error.message, { code: "invalid", status: 500, cause: error });
    }
  }

  async #createIndex(): Promise<void> {
    try {
      const settings = { "index.number_of_shards": 1, "index.auto_expand_replicas": "0-all" };
      const request = {
        call: "initSecurity",
        method: "PUT",
        path: securityIndex,
        body: { settings },
      } as const;
      const { value } = await this.#wire.any(request);
      assertAcknowledged(request.call, value);
    } catch (error) {
      if (error instanceof EngineError && error.type === "resource_already_exists_exception") return;
      throw error;
    }
  }

  /** The entity as it is, undefined where there is none. Static ones break the plugin's document when they are written. */
  async #mutable(call: EngineCall, type: SecurityEntityType, name: string): Promise<JsonObject | undefined> {
    const path = pathOf(type, name);
    const { status, value } = await this.#wire.any({ call, method: "GET", path, accepts: [404] });
    if (status === 404) return undefined;
    const now = fieldOf(value, name);
    if (!isJsonObject(now)) throw unreadable(call, "the response does not hold the entity", status);
    if (fieldOf(now, "static") !== true) return now;
    throw new EngineError(`${call}: ${type}/${name} is static and cannot be changed`, {
      code: "invalid",
      mayHaveActed: false,
    });
  }

  /** One write of a type at a time, tried again when another writer came first. */
  async #inTurn(type: SecurityEntityType, write: () => Promise<void>): Promise<void> {
    const before = this.#turns.get(type);
    const { promise, resolve } = Promise.withResolvers<undefined>();
    this.#turns.set(type, promise);
    await before;
    try {
      await this.#retried(write);
    } finally {
      resolve(undefined);
    }
  }

  async #retried(write: () => Promise<void>): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await write();
        return;
      } catch (error) {
        const isConflict = error instanceof EngineError && error.code === "conflict";
        if (!isConflict || attempt > conflictLimit) throw error;
        await this.#system.sleep(attempt * conflictDelayMs);
      }
    }
  }
}

function pathOf(type: SecurityEntityType, name?: string): string {
  const collection = `/_plugins/_security/api/${type}`;
  return name === undefined ? collection : `${collection}/${pathSegment(name)}`;
}

/** Longest name that anybody gives a user or a role. */
const nameLimit = 512;

/** A name as one segment of a path. A dot segment would lead elsewhere. */
function pathSegment(name: string): string {
  const isUsable = name !== "" && name !== "." && name !== ".." && name.length <= nameLimit;
  if (!isUsable || !name.isWellFormed())
    throw new EngineError("the name of an entity is empty, too long or not usable in a path", {
      code: "invalid",
      mayHaveActed: false,
    });
  return encodeURIComponent(name);
}

/** The engine's report on one document. An unassigned shard reports nothing about its content. */
function documentState(document: unknown): "there" | "absent" | "unknown" {
  const isFound = fieldOf(document, "found");
  if (typeof isFound === "boolean") return isFound ? "there" : "absent";
  return textOf(fieldOf(document, "error"), "type") === "index_not_found_exception" ? "absent" : "unknown";
}

/** HTTP 200 of a bulk request proves nothing: each document must be created or be there. Gives those that were created. */
function createdDocuments(value: unknown, wanted: number): readonly SecurityDocumentType[] {
  const items = listOf(value, "items").map((item) => fieldOf(item, "create"));
  const withStatus = (status: number): readonly unknown[] =>
    items.filter((item) => fieldOf(item, "status") === status);
  const created = withStatus(201);
  const done = created.length + withStatus(409).length;
  if (done !== wanted || items.length !== wanted)
    throw new EngineError(`initSecurity: ${done} of ${wanted} documents were written`, {
      code: "unavailable",
    });
  return securityDocumentTypes.filter((type) => created.some((item) => textOf(item, "_id") === type));
}
