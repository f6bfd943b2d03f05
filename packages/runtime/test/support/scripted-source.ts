import { ApiError } from "../../src/errors.ts";
import type { KubeObject } from "../../src/object/kube-object.ts";
import type { Listing, StreamQuery, WatchSource } from "../../src/watch/watch-source.ts";

/** What one stream does: an error instead of a response, or chunks and then an end, a break, or silence. */
export interface ScriptedStream {
  readonly refuse?: Error;
  readonly chunks?: readonly (string | Uint8Array)[];
  readonly end?: "close" | "hang" | Error;
}

/** A source that plays a script, one entry per stream; the last one repeats. Notes the requests. */
export class ScriptedSource implements WatchSource {
  readonly queries: (string | undefined)[] = [];
  lists = 0;
  /** Of each list, whether it was requested in one piece. */
  readonly wholes: boolean[] = [];
  /** Versions that were to be confirmed. */
  readonly confirmations: string[] = [];
  /** Answers to that, in turn; then every version is confirmed. */
  readonly doubts: Error[] = [];
  #isExpiring = false;
  readonly #streams: ScriptedStream[];
  readonly #pages: { readonly objects: readonly KubeObject[]; readonly resourceVersion: string };

  constructor(
    streams: readonly ScriptedStream[],
    objects: readonly KubeObject[] = [],
    resourceVersion = "10",
  ) {
    this.#streams = [...streams];
    this.#pages = { objects, resourceVersion };
  }

  async open({ resourceVersion, signal }: StreamQuery): Promise<AsyncIterable<Uint8Array>> {
    this.queries.push(resourceVersion);
    const stream = this.#streams.length > 1 ? this.#streams.shift() : this.#streams[0];
    if (stream?.refuse !== undefined) throw stream.refuse;
    return await Promise.resolve(play(stream ?? {}, signal));
  }

  async confirmVersion(resourceVersion: string): Promise<void> {
    await Promise.resolve();
    this.confirmations.push(resourceVersion);
    const doubt = this.doubts.shift();
    if (doubt !== undefined) throw doubt;
  }

  /** From now on every list in pages ends with 410 after its first object. */
  expirePages(): void {
    this.#isExpiring = true;
  }

  list(_signal?: AbortSignal, { isWhole = false }: { readonly isWhole?: boolean } = {}): Listing {
    this.lists += 1;
    this.wholes.push(isWhole);
    const { objects, resourceVersion } = this.#pages;
    if (this.#isExpiring && !isWhole)
      return { objects: expiring(objects), resourceVersion: () => resourceVersion };
    return { objects: each(objects), resourceVersion: () => resourceVersion };
  }
}

async function* expiring(objects: readonly KubeObject[]): AsyncGenerator<KubeObject> {
  yield* each(objects.slice(0, 1));
  throw new ApiError("list: 410", { class: "gone", status: 410, mayHaveActed: false });
}

async function* each(objects: readonly KubeObject[]): AsyncGenerator<KubeObject> {
  for (const object of objects) yield await Promise.resolve(object);
}

async function* play(
  { chunks = [], end = "hang" }: ScriptedStream,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield await Promise.resolve(Buffer.from(chunk));
  if (end instanceof Error) throw end;
  if (end === "close") return;
  await new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => {
      reject(new Error("aborted"));
    });
  });
}

/** A frame of a watch. */
export function frame(type: "ADDED" | "MODIFIED" | "DELETED", object: KubeObject): string {
  return `${JSON.stringify({ type, object })}\n`;
}

/** A bookmark; `end` marks the end of the initial events. */
export function bookmark(resourceVersion: string, kind?: "end"): string {
  const annotations = kind === "end" ? { annotations: { "k8s.io/initial-events-end": "true" } } : {};
  return `${JSON.stringify({ type: "BOOKMARK", object: { metadata: { resourceVersion, ...annotations } } })}\n`;
}

/** The ERROR event inside a stream. */
export function errorFrame(code: number, more: object = {}): string {
  return `${JSON.stringify({ type: "ERROR", object: { kind: "Status", metadata: {}, code, ...more } })}\n`;
}
