import { isJsonObject, textOf } from "@quartermaster/runtime";

import { EngineError } from "./engine-error.ts";
import type { EngineRepository } from "./engine-facts.ts";
import type { EngineRequest, EngineWire } from "./engine-wire.ts";
import { assertAcknowledged, type EngineResponse, unreadable } from "./read-response.ts";

/** Calls about snapshot repositories; the same in both distributions. */
export interface RepositoryApi {
  list(): Promise<readonly EngineRepository[]>;
  put(repository: EngineRepository): Promise<void>;
  verify(name: string): Promise<void>;
  delete(name: string): Promise<void>;
}

/** Makes them over a wire. Settings may hold credentials, so the engine's words about them stay out of errors. */
export function repositoryApi(wire: EngineWire, timeout: string): RepositoryApi {
  const write = async (request: EngineRequest): Promise<EngineResponse> => {
    try {
      return await wire.any({ ...request, isSecret: true });
    } catch (error) {
      throw asRefusal(error);
    }
  };
  return {
    list: async () => {
      const path = `/_snapshot?flat_settings=true&${timeout}`;
      const { value } = await wire.any({ call: "repositories", method: "GET", path, isSecret: true });
      return readRepositories(value);
    },
    put: async ({ name, type, settings }) => {
      const path = `/_snapshot/${pathName(name)}?verify=false&${timeout}`;
      const { value } = await write({ call: "putRepository", method: "PUT", path, body: { type, settings } });
      assertAcknowledged("putRepository", value);
    },
    verify: async (name) => {
      const path = `/_snapshot/${pathName(name)}/_verify?${timeout}`;
      await write({ call: "verifyRepository", method: "POST", path });
    },
    delete: async (name) => {
      const path = `/_snapshot/${pathName(name)}?${timeout}`;
      const response = await write({ call: "deleteRepository", method: "DELETE", path, accepts: [404] });
      if (response.status !== 404) assertAcknowledged("deleteRepository", response.value);
    },
  };
}

/** Names that an engine takes for one repository and for nothing else: wildcards and lists would reach those of others. */
export function isRepositoryName(name: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,252}$/.test(name);
}

function pathName(name: string): string {
  if (isRepositoryName(name)) return encodeURIComponent(name);
  throw new EngineError("not the name of one repository", { code: "invalid", mayHaveActed: false });
}

/** Engines respond with 500 where a repository cannot be used: that is about the repository, not about the engine. */
function asRefusal(error: unknown): unknown {
  if (!(error instanceof EngineError) || error.type?.startsWith("repository_") !== true) return error;
  const { message, status, type, mayHaveActed } = error;
  return new EngineError(message, {
    code: "invalid",
    mayHaveActed,
    status,
    type,
  });
}

function readRepositories(value: unknown): readonly EngineRepository[] {
  if (!isJsonObject(value)) throw unreadable("repositories", "the response is no object");
  return Object.entries(value).map(([name, entry]) => {
    const type = textOf(entry, "type");
    const settings = isJsonObject(entry) ? (entry["settings"] ?? {}) : undefined;
    if (type === undefined || !isJsonObject(settings))
      throw unreadable("repositories", "a repository has no type or no settings");
    return { name, type, settings: Object.fromEntries(flat("", settings)) };
  });
}

/** Dotted names, as they were written; a list as one text with commas. */
function flat(
  prefix: string,
  value: Readonly<Record<string, unknown>>,
): readonly (readonly [string, string])[] {
  return Object.entries(value).flatMap(([key, each]): readonly (readonly [string, string])[] => {
    const name = `${prefix}${key}`;
    if (isJsonObject(each)) return flat(`${name}.`, each);
    return [[name, Array.isArray(each) ? each.join(",") : String(each)]];
  });
}
