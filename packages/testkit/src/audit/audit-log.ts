import { randomUUID } from "node:crypto";
import { closeSync, fstatSync, openSync, readSync, statSync } from "node:fs";

import type { ApiClient } from "@quartermaster/local-cluster";
import { z } from "zod";

import { eventually } from "../eventually.ts";

/** One request as the API server saw it. */
export interface AuditEntry {
  readonly verb: string;
  readonly user: string;
  /** The impersonated user, if any. */
  readonly impersonatedUser: string | undefined;
  readonly userAgent: string;
  readonly path: string;
  readonly resource: string;
  readonly subresource: string | undefined;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly code: number;
  /** When the server received it, by the wall clock. */
  readonly atMs: number;
}

/** Which entries to look at; a field that is left out matches everything. */
export interface AuditFilter {
  readonly user?: string;
  readonly verbs?: readonly string[];
  readonly resource?: string;
  readonly namespace?: string;
}

/** Verbs that change something. */
export const WRITING_VERBS: readonly string[] = ["create", "update", "patch", "delete", "deletecollection"];

/** A moment. Lines of requests that came before it may stand behind its place in the log: each is written after its response. */
export interface AuditPosition {
  readonly offsetBytes: number;
  /** By the server's clock, in microseconds, as it writes them. */
  readonly receivedAt: string;
}

/** Reads what was really asked of the API server, by whom. */
export class AuditLog {
  readonly #path: string;
  readonly #api: ApiClient;

  constructor(path: string, api: ApiClient) {
    this.#path = path;
    this.#api = api;
  }

  /** Remembers this moment. */
  async position(): Promise<AuditPosition> {
    return await this.#request();
  }

  /** All requests answered since the mark that match, oldest first. Watches appear once, when they start. */
  async since(position: AuditPosition, filter: AuditFilter = {}): Promise<readonly AuditEntry[]> {
    await this.#flush();
    return parseAuditLines(this.#wholeLinesSince(position.offsetBytes), position.receivedAt).filter((entry) =>
      matches(entry, filter),
    );
  }

  /** What a user has written since the mark, but for events. */
  async writesSince(position: AuditPosition, user: string): Promise<readonly AuditEntry[]> {
    const entries = await this.since(position, { verbs: WRITING_VERBS });
    return entries.filter((entry) => entry.user === user && entry.resource !== "events");
  }

  /** Number of requests since the mark by verb. */
  async countByVerb(
    position: AuditPosition,
    filter: AuditFilter = {},
  ): Promise<Readonly<Record<string, number>>> {
    const counts: Record<string, number> = {};
    for (const { verb } of await this.since(position, filter)) counts[verb] = (counts[verb] ?? 0) + 1;
    return counts;
  }

  /** A request's line is written after its response was sent, shortly later than that of the next one at worst. */
  async #flush(): Promise<void> {
    await this.#request();
    await this.#request();
  }

  /** Requests something unmistakable and waits for its line. */
  async #request(): Promise<AuditPosition> {
    const marker = `/version?mark=${randomUUID()}`;
    const offsetBytes = statSync(this.#path).size;
    await this.#api.send({ path: marker });
    const line = await eventually(
      () =>
        this.#wholeLinesSince(offsetBytes)
          .split("\n")
          .find((text) => text.includes(marker)),
      { everyMs: 10 },
    );
    return { offsetBytes, receivedAt: auditEvent.parse(JSON.parse(line)).requestReceivedTimestamp };
  }

  /** Others write while we look: a line that was half there at the mark came before it, one that is half there now comes later. */
  #wholeLinesSince(offsetBytes: number): string {
    const start = Math.max(0, offsetBytes - 1);
    const log = readFrom(this.#path, start);
    const first = offsetBytes === 0 ? 0 : log.indexOf(newline) + 1;
    return log.subarray(first, log.lastIndexOf(newline) + 1).toString("utf8");
  }
}

/** The log of a cluster that many tests share grows to hundreds of megabytes: only the end of it is ever read. */
function readFrom(path: string, start: number): Buffer {
  const file = openSync(path, "r");
  try {
    const log = Buffer.alloc(Math.max(0, fstatSync(file).size - start));
    return log.subarray(0, readSync(file, log, 0, log.length, start));
  } finally {
    closeSync(file);
  }
}

const newline = 0x0a;

/** Turns lines of the log into entries, but for requests before a moment. A watch is reported when it starts, everything else when it ends. */
export function parseAuditLines(text: string, since = ""): readonly AuditEntry[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => auditEvent.parse(JSON.parse(line)))
    .filter(
      ({ stage, verb, requestURI, requestReceivedTimestamp }) =>
        requestReceivedTimestamp >= since &&
        !requestURI.includes("/version?mark=") &&
        (stage === "ResponseStarted") === (verb === "watch"),
    )
    .map((event) => ({
      verb: event.verb,
      user: event.user.username,
      impersonatedUser: event.impersonatedUser?.username,
      userAgent: event.userAgent,
      path: event.requestURI,
      resource: event.objectRef?.resource ?? "",
      subresource: event.objectRef?.subresource,
      namespace: event.objectRef?.namespace,
      name: event.objectRef?.name,
      code: event.responseStatus?.code ?? 0,
      atMs: Date.parse(event.requestReceivedTimestamp),
    }));
}

const auditEvent = z.object({
  stage: z.string(),
  verb: z.string(),
  requestURI: z.string(),
  userAgent: z.string().default(""),
  user: z.object({ username: z.string().default("") }),
  impersonatedUser: z.object({ username: z.string().default("") }).optional(),
  objectRef: z
    .object({
      resource: z.string().optional(),
      subresource: z.string().optional(),
      namespace: z.string().optional(),
      name: z.string().optional(),
    })
    .optional(),
  requestReceivedTimestamp: z.string(),
  responseStatus: z.object({ code: z.number().optional() }).optional(),
});

function matches(entry: AuditEntry, { user, verbs, resource, namespace }: AuditFilter): boolean {
  return (
    (user === undefined || entry.user === user || entry.impersonatedUser === user) &&
    (verbs === undefined || verbs.includes(entry.verb)) &&
    (resource === undefined || entry.resource === resource) &&
    (namespace === undefined || entry.namespace === namespace)
  );
}
