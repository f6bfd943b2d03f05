import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Duplex } from "node:stream";

import { z } from "zod";

/** A page in a headless browser. */
export interface BrowserPage extends AsyncDisposable {
  /** The value of an expression in the page. */
  evaluate(expression: string): Promise<unknown>;
  /** The whole page as PNG. */
  screenshot(): Promise<Buffer>;
  /** Addresses that the page requested, its own included. */
  readonly requests: readonly string[];
}

const messageSchema = z.object({
  id: z.number().optional(),
  method: z.string().optional(),
  params: z.unknown().optional(),
  result: z.unknown().optional(),
  error: z.unknown().optional(),
});
const sessionSchema = z.object({ sessionId: z.string() });
const targetSchema = z.object({ targetId: z.string() });
const valueSchema = z.object({ result: z.object({ value: z.unknown() }) });
const requestSchema = z.object({ request: z.object({ url: z.string() }) });

/** Opens a page in Chromium, steered over a pipe: no port is opened. */
export async function openPage(program: string, url: string): Promise<BrowserPage> {
  const profile = mkdtempSync(join(tmpdir(), "browser-"));
  const child = spawn(
    program,
    [
      "--headless",
      // Root has no sandbox; the page is ours, and nothing is loaded from elsewhere.
      "--no-sandbox",
      "--disable-gpu",
      "--disable-dev-shm-usage",
      "--no-first-run",
      "--hide-scrollbars",
      "--remote-debugging-pipe",
      `--user-data-dir=${profile}`,
      "--window-size=1500,1000",
    ],
    { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] },
  );
  const ended = new Promise((resolve) => child.once("exit", resolve));
  const wire = new Wire(child.stdio[3] as Duplex, child.stdio[4] as Duplex);
  const { targetId } = targetSchema.parse(await wire.call("Target.createTarget", { url: "about:blank" }));
  const attached = await wire.call("Target.attachToTarget", { targetId, flatten: true });
  const { sessionId } = sessionSchema.parse(attached);
  const call = async (method: string, params: object = {}): Promise<unknown> =>
    await wire.call(method, params, sessionId);
  await call("Page.enable");
  await call("Network.enable");
  const loaded = wire.once("Page.loadEventFired");
  await call("Page.navigate", { url });
  await loaded;
  return {
    requests: wire.requests,
    evaluate: async (expression) =>
      valueSchema.parse(await call("Runtime.evaluate", { expression, returnByValue: true })).result.value,
    screenshot: async () => {
      const taken = await call("Page.captureScreenshot", { format: "png", captureBeyondViewport: true });
      return Buffer.from(z.object({ data: z.string() }).parse(taken).data, "base64");
    },
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGKILL");
      await ended;
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** Chromium's protocol over a pipe: JSON, each message ended by a zero. */
class Wire {
  readonly requests: string[] = [];
  readonly #to: Duplex;
  readonly #responses = new Map<number, (message: z.infer<typeof messageSchema>) => void>();
  readonly #events = new Map<string, () => void>();
  #rest = "";
  #id = 0;

  constructor(to: Duplex, from: Duplex) {
    this.#to = to;
    from.setEncoding("utf8").on("data", (chunk: string) => {
      const parts = `${this.#rest}${chunk}`.split("\0");
      this.#rest = parts.pop() ?? "";
      for (const part of parts) this.#take(messageSchema.parse(JSON.parse(part)));
    });
  }

  async call(method: string, params: object, sessionId?: string): Promise<unknown> {
    this.#id += 1;
    const id = this.#id;
    const { promise, resolve } = Promise.withResolvers<z.infer<typeof messageSchema>>();
    this.#responses.set(id, resolve);
    this.#to.write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    const { result, error } = await promise;
    if (error !== undefined) throw new Error(`${method}: ${JSON.stringify(error)}`);
    return result;
  }

  async once(method: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    this.#events.set(method, () => {
      resolve(undefined);
    });
    await promise;
  }

  #take(message: z.infer<typeof messageSchema>): void {
    const { id, method = "", params } = message;
    if (id !== undefined) this.#responses.get(id)?.(message);
    if (method === "Network.requestWillBeSent") this.requests.push(requestSchema.parse(params).request.url);
    this.#events.get(method)?.();
  }
}
