import { pipeline, Readable, Transform } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * Changes a stream of watch events on its way. Gets whole frames (one JSON event each, line end included) and gives the
 * chunks to be written; ending it ends the stream.
 */
export type WatchTransform = (frames: AsyncIterable<Buffer>, signal: AbortSignal) => AsyncIterable<Buffer>;

/** W1: every event comes late by so much, in order. Those that wait are waited for together: a burst stays a burst. */
export function delayEvents(ms: number): WatchTransform {
  return async function* delayed(frames, signal) {
    const waiting = new Transform({
      objectMode: true,
      readableHighWaterMark: Number.MAX_SAFE_INTEGER,
      transform: (frame: Buffer, _encoding, done) =>
        done(undefined, { frame, dueMs: performance.now() + ms }),
    });
    // A stream that breaks ends the loop below.
    pipeline(Readable.from(frames), waiting, () => undefined);
    for await (const { frame, dueMs } of waiting as AsyncIterable<{
      readonly frame: Buffer;
      readonly dueMs: number;
    }>) {
      await sleep(Math.max(0, dueMs - performance.now()), undefined, { signal });
      yield frame;
    }
  };
}

/** W2: the client sees nothing from the first frame that matches until the first that ends it, which closes the stream. */
export function hideWindow(
  from: (frame: string) => boolean,
  until: (frame: string) => boolean,
): WatchTransform {
  return async function* windowed(frames) {
    let isHidden = false;
    for await (const frame of frames) {
      const text = frame.toString("utf8");
      isHidden ||= from(text);
      if (isHidden && until(text)) return;
      if (!isHidden) yield frame;
    }
  };
}

/** W3: each event comes twice, and after every `every` events the whole past is replayed. */
export function repeatEvents(every = Number.POSITIVE_INFINITY): WatchTransform {
  return async function* repeated(frames) {
    const past: Buffer[] = [];
    for await (const frame of frames) {
      past.push(frame);
      yield frame;
      yield frame;
      if (past.length % every === 0) yield* past;
    }
  };
}

/** W4: holds this stream while others continue, until the gate is opened. */
export function holdUntil(gate: Promise<void>): WatchTransform {
  return async function* held(frames) {
    await gate;
    yield* frames;
  };
}

/** W5: after so many frames the stream tells of an expired resourceVersion inside a 200. */
export function expireAfter(frameCount: number): WatchTransform {
  const status = {
    kind: "Status",
    apiVersion: "v1",
    status: "Failure",
    reason: "Expired",
    code: 410,
    message: "injected",
  };
  return async function* expiring(frames) {
    let seen = 0;
    for await (const frame of frames) {
      if (seen >= frameCount) break;
      seen += 1;
      yield frame;
    }
    yield Buffer.from(`${JSON.stringify({ type: "ERROR", object: status })}\n`);
  };
}

/** S2: the stream ends right after its initial events, so that what follows is another request. */
export function closeAfterInitial(): WatchTransform {
  return async function* initialOnly(frames) {
    for await (const frame of frames) {
      yield frame;
      if (frame.includes('"k8s.io/initial-events-end":"true"')) return;
    }
  };
}

/** W6: the stream ends cleanly after so long. */
export function closeAfter(ms: number): WatchTransform {
  return async function* closing(frames) {
    const end = AbortSignal.timeout(ms);
    const iterator = frames[Symbol.asyncIterator]();
    const over = new Promise<undefined>((resolve) => {
      end.addEventListener("abort", () => resolve(undefined), { once: true });
    });
    for (;;) {
      const next = await Promise.race([iterator.next(), over]);
      if (next === undefined || next.done === true) return;
      yield next.value;
    }
  };
}

/** W6: after so many frames not a byte comes any more, and the connection stays open: what a dead peer looks like. */
export function goSilentAfter(frameCount: number): WatchTransform {
  return async function* silent(frames, signal) {
    let seen = 0;
    for await (const frame of frames) {
      if (seen >= frameCount) break;
      seen += 1;
      yield frame;
    }
    await new Promise<void>((resolve) => {
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
  };
}

/** W7: frames are cut into chunks of so many bytes, wherever that falls. */
export function splitEvery(bytes: number): WatchTransform {
  return async function* split(frames) {
    for await (const frame of frames) {
      for (let at = 0; at < frame.length; at += bytes) yield frame.subarray(at, at + bytes);
    }
  };
}

/** W7: `count` frames come in one chunk. The rest waits for its fellows or for the end. */
export function joinFrames(count: number): WatchTransform {
  return async function* joined(frames) {
    let waiting: Buffer[] = [];
    for await (const frame of frames) {
      waiting.push(frame);
      if (waiting.length < count) continue;
      yield Buffer.concat(waiting);
      waiting = [];
    }
    if (waiting.length > 0) yield Buffer.concat(waiting);
  };
}

/** Puts a stream of bytes into frames: lines, each with its end. */
export async function* toFrames(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (let end = rest.indexOf(NEWLINE); end !== -1; end = rest.indexOf(NEWLINE)) {
      yield rest.subarray(0, end + 1);
      rest = rest.subarray(end + 1);
    }
  }
  if (rest.length > 0) yield rest;
}

const NEWLINE = 0x0a;
