import { randomUUID } from "node:crypto";
import { readFileSync, statSync } from "node:fs";

import type { ApiClient } from "@quartermaster/local-cluster";
import { z } from "zod";

import { eventually } from "../eventually.ts";

/** One request as the API server saw it. */
export interface AuditEntry {
  readonly verb: string;
  readonly user: string;
  /** The user somebody else spoke as, if any. */
  readonly impersonatedUser: string | undefined;
  readonly userAgent: string;
  readonly path: string;
  readonly resource: string;
  readonly subresource: string | undefined;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly code: number;
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

/** A place in the log: what comes after it happened later. */
export interface AuditMark {
  readonly offsetBytes: number;
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
  async mark(): Promise<AuditMark> {
    await this.#flush();
    return { offsetBytes: statSync(this.#path).size };
  }

  /** All requests answered since the mark that match, oldest first. Watches appear once, when they start. */
  async since(mark: AuditMark, filter: AuditFilter = {}): Promise<readonly AuditEntry[]> {
    await this.#flush();
    const text = wholeLines(readFileSync(this.#path), mark.offsetBytes);
    return parseAuditLines(text).filter((entry) => matches(entry, filter));
  }

  /** Number of requests since the mark by verb. */
  async countByVerb(mark: AuditMark, filter: AuditFilter = {}): Promise<Readonly<Record<string, number>>> {
    const counts: Record<string, number> = {};
    for (const { verb } of await this.since(mark, filter)) counts[verb] = (counts[verb] ?? 0) + 1;
    return counts;
  }

  /** A request's line is written after its answer was sent: ask for something unmistakable and wait for its line. */
  async #flush(): Promise<void> {
    const marker = `/version?mark=${randomUUID()}`;
    await this.#api.send({ path: marker });
    await eventually(() => readFileSync(this.#path, "utf8").includes(marker), { everyMs: 10 });
  }
}

/** Others write while we look: a line that was half there at the mark came before it, one that is half there now comes later. */
function wholeLines(log: Buffer, offsetBytes: number): string {
  const isLineStart = offsetBytes === 0 || log[offsetBytes - 1] === newline;
  const start = isLineStart ? offsetBytes : log.indexOf(newline, offsetBytes) + 1;
  return log.subarray(start, log.lastIndexOf(newline) + 1).toString("utf8");
}

const newline = 0x0a;

/** Turns lines of the log into entries. A watch is told when it starts, everything else when it ends. */
export function parseAuditLines(text: string): readonly AuditEntry[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => auditEvent.parse(JSON.parse(line)))
    .filter(
      ({ stage, verb, requestURI }) =>
        !requestURI.includes("/version?mark=") && (stage === "ResponseStarted") === (verb === "watch"),
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
