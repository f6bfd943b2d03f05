import {
  ApiError,
  classify,
  type Client,
  definedFields,
  pause,
  fieldOf,
  isJsonObject,
  type Kind,
  type KubeObject,
  type Log,
  parseJson,
  type System,
  textOf,
  type Transport,
} from "@quartermaster/runtime";

export interface WatchEnvironment {
  readonly transport: Transport;
  readonly client: Client;
  readonly system: System;
  readonly log: Log;
}

/** Which object, and who wants to know. */
export interface ObjectWatchRequest {
  readonly kind: Kind;
  readonly namespace: string;
  readonly name: string;
  /** Called with each state of the object, the first one included; never with its absence. */
  readonly onObject: (object: KubeObject) => void;
}

/** Silence that means a dead connection: a bookmark comes every minute. */
const idleMs = 85_000;
const firstRetryMs = 200;
const longestRetryMs = 30_000;

/**
 * Follows one object until the signal aborts: reads it, then watches it by name from there. The verbs `get` and `watch` on this one
 * name are enough; no other object is ever listed. Never rejects: whatever breaks is tried again.
 */
export async function watchObject(
  request: ObjectWatchRequest,
  environment: WatchEnvironment,
  signal: AbortSignal,
): Promise<void> {
  const { system, log } = environment;
  let retryMs = firstRetryMs;
  while (!signal.aborted) {
    const startMs = system.monotonicMs();
    const failure = await attempt(request, environment, signal);
    if (signal.aborted) return;
    if (system.monotonicMs() - startMs > longestRetryMs) retryMs = firstRetryMs;
    if (failure !== undefined) log.debug("watch broken", { errorClass: classify(failure), retryMs });
    await pause(system, retryMs * (0.5 + system.random() / 2), signal);
    retryMs = Math.min(2 * retryMs, longestRetryMs);
  }
}

/** One read and one watch from there. Returns what broke it, or undefined when the server ended it in time. */
async function attempt(
  request: ObjectWatchRequest,
  environment: WatchEnvironment,
  signal: AbortSignal,
): Promise<unknown> {
  const { kind, namespace, name, onObject } = request;
  try {
    const object = await environment.client.find(kind, { namespace, name }, { signal });
    if (object !== undefined) onObject(object);
    await readStream(request, { ...environment, version: object?.metadata.resourceVersion }, signal);
    return undefined;
  } catch (error) {
    return error;
  }
}

interface StreamEnvironment extends WatchEnvironment {
  /** Undefined where there is no object yet: the watch then begins with what is there. */
  readonly version: string | undefined;
}

async function readStream(
  { kind, namespace, name, onObject }: ObjectWatchRequest,
  { transport, system, version }: StreamEnvironment,
  signal: AbortSignal,
): Promise<void> {
  const silence = new AbortController();
  const both = AbortSignal.any([signal, silence.signal]);
  const arm = (): Disposable =>
    system.setTimer(idleMs, () => {
      silence.abort();
    });
  let timer = arm();
  try {
    const path = watchPath({ kind, namespace, name }, version);
    const { body } = await transport.openStream(path, {
      subject: { kind: kind.kind, ref: { namespace, name } },
      signal: both,
    });
    for await (const line of linesOf(body)) {
      timer[Symbol.dispose]();
      timer = arm();
      takeEvent(line, onObject);
    }
  } finally {
    timer[Symbol.dispose]();
  }
}

function watchPath(
  { kind: { plural }, namespace, name }: Pick<ObjectWatchRequest, "kind" | "namespace" | "name">,
  version: string | undefined,
): string {
  const query = new URLSearchParams({
    watch: "true",
    allowWatchBookmarks: "true",
    timeoutSeconds: "540",
    fieldSelector: `metadata.name=${name}`,
    ...definedFields({ resourceVersion: version }),
  });
  return `/api/v1/namespaces/${encodeURIComponent(namespace)}/${plural}?${query.toString()}`;
}

async function* linesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of body) {
    const lines = `${rest}${decoder.decode(chunk, { stream: true })}`.split("\n");
    rest = lines.pop() ?? "";
    yield* lines.filter((line) => line !== "");
  }
}

/** An error event ends the stream like a refused request, e.g. when the server has forgotten our version. */
function takeEvent(line: string, onObject: (object: KubeObject) => void): void {
  const event = parseJson(line);
  const type = textOf(event, "type");
  const object = fieldOf(event, "object");
  if (type === "ERROR")
    throw new ApiError("watch: the server ended it", { class: "gone", mayHaveActed: false });
  if ((type !== "ADDED" && type !== "MODIFIED") || !isJsonObject(object)) return;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the server vouches for the kind that was asked for
  onObject(object as unknown as KubeObject);
}
