import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";

import { realSystem } from "@quartermaster/runtime";
import { afterAll, beforeAll, expect, test } from "vitest";

import { type InjectionBench, startInjection } from "../support/replica.ts";

/** Passes on to a webhook what comes, late or never; connections that are open are held up too. */
class SlowRelay implements AsyncDisposable {
  /** Until a chunk is passed on; undefined drops it. */
  delayMs: number | undefined = 0;
  /** Chunks from the API server. */
  requested = 0;
  readonly #server = createServer((near) => {
    const target = connect(this.webhookPort, "127.0.0.1");
    target.on("error", () => near.destroy()).pipe(near);
    near.on("error", () => target.destroy());
    near.on("data", (chunk) => {
      this.requested += 1;
      const { delayMs } = this;
      if (delayMs === undefined) return;
      void realSystem()
        .sleep(delayMs)
        .then(() => target.write(chunk));
    });
  });
  webhookPort = 0;
  port = 0;

  async listen(): Promise<void> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    this.port = (this.#server.address() as AddressInfo).port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    await Promise.resolve();
  }
}

async function freePort(): Promise<number> {
  await using server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

const relay = new SlowRelay();
let bench: InjectionBench;

beforeAll(async () => {
  await relay.listen();
  relay.webhookPort = await freePort();
  bench = await startInjection({}, async () => {
    const address = { url: `https://127.0.0.1:${relay.port}` };
    return await Promise.resolve({ address, port: relay.webhookPort });
  });
  await bench.secret("s1", "a.pem");
  await bench.bundle("local", { entitlements: [{ name: "s1" }] });
});
afterAll(async () => {
  await bench[Symbol.asyncDispose]();
  await relay[Symbol.asyncDispose]();
});

const annotations = { "inject-bundle": "local" };

async function plainPods(count: number): Promise<readonly number[]> {
  const all = Array.from(
    { length: count },
    async (_, at) => await bench.pod(`plain-${at}`, { dryRun: true }),
  );
  return (await Promise.all(all)).map(({ status }) => status);
}

test("[faults/25] a slow webhook keeps only pods that name a bundle waiting, and one that hangs rejects only these", async () => {
  const isCreated = (statuses: readonly number[]): boolean => statuses.every((status) => status === 201);
  relay.requested = 0;
  expect(isCreated(await plainPods(20))).toBe(true);
  expect(relay.requested).toBe(0);

  relay.delayMs = 1_500;
  const startMs = performance.now();
  const waiting = bench.pod("slow", { annotations, dryRun: true });
  expect(isCreated(await plainPods(20))).toBe(true);
  const { status, object } = await waiting;
  expect(status, object.message).toBe(201);
  expect(performance.now() - startMs).toBeGreaterThan(1_400);
  expect(object.spec?.volumes?.map(({ name }) => name)).toContain("etc-pki-entitlement");

  relay.delayMs = undefined;
  const hanging = bench.pod("hung", { annotations, dryRun: true });
  expect(isCreated(await plainPods(20))).toBe(true);
  const refused = await hanging;
  expect(refused.status).toBe(500);
  expect(refused.object.message).toContain("failed calling webhook");
});
