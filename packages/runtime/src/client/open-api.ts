import * as z from "zod";

import { ApiError } from "../errors.ts";
import { parseJson } from "../transport/parse-json.ts";
import type { CallOptions, Client } from "./client.ts";

const indexSchema = z.object({
  paths: z.record(z.string(), z.object({ serverRelativeURL: z.string() })),
});

/**
 * The server's OpenAPI v3 documents. Each is fetched once per content: the index names the hash, and a document whose hash
 * did not change is not fetched again.
 */
export class OpenApi {
  readonly #client: Client;
  readonly #documents = new Map<string, { readonly url: string; readonly document: unknown }>();
  #index: Promise<ReadonlyMap<string, string>> | undefined;

  constructor(client: Client) {
    this.#client = client;
  }

  /** Paths with a document, sorted, e.g. `api/v1`, `apis/apps/v1`. */
  async paths(options: CallOptions = {}): Promise<readonly string[]> {
    return [...(await this.#urls(options)).keys()].toSorted();
  }

  /** The document of a group version such as `apps/v1` or `v1`; throws `notFound` when there is none. */
  async document(apiVersion: string, options: CallOptions = {}): Promise<unknown> {
    const path = apiVersion.includes("/") ? `apis/${apiVersion}` : `api/${apiVersion}`;
    const url = (await this.#urls(options)).get(path);
    if (url === undefined) throw noDocument(apiVersion);
    const known = this.#documents.get(path);
    if (known?.url === url) return known.document;
    const document = await this.#read(url, options);
    this.#documents.set(path, { url, document });
    return document;
  }

  /** The next question reads the index again; unchanged documents stay. */
  invalidate(): void {
    this.#index = undefined;
  }

  async #urls(options: CallOptions): Promise<ReadonlyMap<string, string>> {
    if (this.#index === undefined) {
      const reading = this.#readIndex();
      this.#index = reading;
      reading.catch(() => {
        if (this.#index === reading) this.invalidate();
      });
    }
    options.signal?.throwIfAborted();
    return await this.#index;
  }

  async #readIndex(): Promise<ReadonlyMap<string, string>> {
    const { paths } = indexSchema.parse(await this.#read("/openapi/v3"));
    return new Map(Object.entries(paths).map(([path, { serverRelativeURL }]) => [path, serverRelativeURL]));
  }

  /** The server calls this JSON plain text. */
  async #read(path: string, options: CallOptions = {}): Promise<unknown> {
    const response = await this.#client.raw({ ...options, method: "GET", path });
    return typeof response === "string" ? parseJson(response) : response;
  }
}

function noDocument(apiVersion: string): ApiError {
  return new ApiError(`read OpenAPI of ${apiVersion}: not served`, {
    class: "notFound",
    reason: "KindNotServed",
    mayHaveActed: false,
  });
}
