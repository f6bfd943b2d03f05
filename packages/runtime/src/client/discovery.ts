import * as z from "zod";

import { ApiError } from "../errors.ts";
import type { Kind } from "../object/kind.ts";
import type { System } from "../system/system.ts";
import type { Transport } from "../transport/transport.ts";
import type { CallOptions } from "./client.ts";

/** A kind that the server offers, with what can be done to it. */
export interface ServedKind extends Kind {
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly verbs: readonly string[];
  readonly subresources: readonly string[];
}

/** Repeating a query for what was unknown just now would only load the server. */
const shortestAgeMs = 500;

const accept = ["v2", "v2beta1"]
  .map((version) => `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`)
  .join(",");

/**
 * The kinds that the server serves: read with two requests when first needed, kept until invalidated or until something is not in it.
 * The core group belongs to the server's own version and is requested again only when something of it is missing.
 */
export class Discovery {
  readonly #transport: Transport;
  readonly #system: System;
  #known: Promise<Offer> | undefined;
  #core: Promise<readonly ServedGroupVersion[]> | undefined;
  #readAtMs = 0;

  constructor(transport: Transport, system: System) {
    this.#transport = transport;
    this.#system = system;
  }

  /** All kinds, preferred versions first within each group; the same list until the server was queried again. */
  async all(options: CallOptions = {}): Promise<readonly ServedKind[]> {
    return (await this.#offer(options)).kinds;
  }

  /** The kind of exactly this apiVersion and name; throws `notFound` when it is not served even after a fresh read. */
  async find(wanted: KindName, options: CallOptions = {}): Promise<ServedKind> {
    const matches = ({ group, version, kind }: ServedKind): boolean =>
      apiVersion(group, version) === wanted.apiVersion && kind === wanted.kind;
    return await this.#search(matches, wanted, options);
  }

  /** The kind behind a plural name of a group, in the group's preferred version. */
  async findResource(wanted: ResourceName, options: CallOptions = {}): Promise<ServedKind> {
    const matches = ({ group, plural }: ServedKind): boolean =>
      group === wanted.group && plural === wanted.plural;
    return await this.#search(matches, { apiVersion: wanted.group, kind: wanted.plural }, options);
  }

  /** The next query goes to the server; call it when a CRD or an APIService changed. */
  invalidate(): void {
    this.#known = undefined;
  }

  async #search(
    matches: (kind: ServedKind) => boolean,
    wanted: KindName,
    options: CallOptions,
  ): Promise<ServedKind> {
    const found = (await this.all(options)).find(matches);
    if (found !== undefined) return found;
    if (this.#system.monotonicMs() - this.#readAtMs >= shortestAgeMs) {
      this.invalidate();
      if (!wanted.apiVersion.includes("/")) this.#core = undefined;
    }
    const { groups, kinds } = await this.#offer(options);
    const foundNow = kinds.find(matches);
    if (foundNow === undefined) throw unknownKind(wanted, groups);
    return foundNow;
  }

  async #offer(options: CallOptions): Promise<Offer> {
    if (this.#known === undefined) {
      const reading = this.#read();
      this.#known = reading;
      reading.catch(() => {
        if (this.#known === reading) this.invalidate();
      });
    }
    options.signal?.throwIfAborted();
    return await this.#known;
  }

  /** Shared by all concurrent callers, hence without the signal of one of them; the transport's limit holds. */
  async #read(): Promise<Offer> {
    this.#core ??= this.#readFrom("/api");
    const core = this.#core;
    core.catch(() => {
      if (this.#core === core) this.#core = undefined;
    });
    const groups = (await Promise.all([core, this.#readFrom("/apis")])).flat();
    this.#readAtMs = this.#system.monotonicMs();
    return { groups, kinds: groups.flatMap(({ kinds }) => kinds) };
  }

  async #readFrom(path: string): Promise<readonly ServedGroupVersion[]> {
    const request = { method: "GET", verb: "get", path, accept, subject: { kind: path } } as const;
    return readGroups(await this.#transport.send(request));
  }
}

interface Offer {
  readonly groups: readonly ServedGroupVersion[];
  readonly kinds: readonly ServedKind[];
}

/** A kind as objects name it. */
export interface KindName {
  readonly apiVersion: string;
  readonly kind: string;
}

/** A kind as URLs and RBAC name it. */
export interface ResourceName {
  readonly group: string;
  readonly plural: string;
}

function apiVersion(group: string, version: string): string {
  return group === "" ? version : `${group}/${version}`;
}

/** An aggregated API that is down is not the same as a kind that does not exist. */
function unknownKind(wanted: KindName, groups: readonly ServedGroupVersion[]): ApiError {
  const isStale = groups.some(
    ({ group, version, isStale: stale }) =>
      stale && [group, apiVersion(group, version)].includes(wanted.apiVersion),
  );
  return new ApiError(`discover ${wanted.kind} of ${wanted.apiVersion}: not served`, {
    class: isStale ? "transient" : "notFound",
    reason: isStale ? "StaleDiscovery" : "KindNotServed",
    mayHaveActed: false,
  });
}

/** One version of a group and what it offers. */
export interface ServedGroupVersion {
  readonly group: string;
  readonly version: string;
  /** The server could not reach the API behind it: what stands here may be old or missing. */
  readonly isStale: boolean;
  readonly kinds: readonly ServedKind[];
}

const resourceSchema = z.object({
  resource: z.string(),
  responseKind: z.object({ kind: z.string() }).nullish(),
  scope: z.enum(["Namespaced", "Cluster"]).optional(),
  singularResource: z.string().default(""),
  shortNames: z.array(z.string()).default([]),
  verbs: z.array(z.string()).default([]),
  subresources: z.array(z.object({ subresource: z.string() })).default([]),
});

const responseSchema = z.object({
  kind: z.literal("APIGroupDiscoveryList"),
  items: z
    .array(
      z.object({
        metadata: z.object({ name: z.string().default("") }).default({ name: "" }),
        versions: z
          .array(
            z.object({
              version: z.string(),
              freshness: z.string().optional(),
              resources: z.array(resourceSchema).default([]),
            }),
          )
          .default([]),
      }),
    )
    .default([]),
});

/** Reads a response of aggregated discovery. Throws when it is something else: Kubernetes before 1.27. */
function readGroups(response: unknown): readonly ServedGroupVersion[] {
  return responseSchema.parse(response).items.flatMap(({ metadata: { name: group }, versions }) =>
    versions.map(({ version, freshness, resources }) => ({
      group,
      version,
      isStale: freshness === "Stale",
      kinds: resources.flatMap((resource) => servedKind(group, version, resource)),
    })),
  );
}

function servedKind(
  group: string,
  version: string,
  resource: z.output<typeof resourceSchema>,
): readonly ServedKind[] {
  const { responseKind, scope, singularResource: singular, shortNames, verbs, subresources } = resource;
  if (responseKind === undefined || responseKind === null || scope === undefined) return [];
  return [
    {
      group,
      version,
      kind: responseKind.kind,
      plural: resource.resource,
      scope,
      singular,
      shortNames,
      verbs,
      subresources: subresources.map(({ subresource }) => subresource),
    },
  ];
}
