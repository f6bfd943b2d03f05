// A process of its own that takes part in an election and, while it leads, writes into a ConfigMap as fast as it may.
// Arguments: kubeconfig, namespace, identity, how far its wall clock is ahead in ms. SIGTERM stops it, SIGUSR2 blocks its loop for 20 s.
import { createClient } from "../../src/client/create-client.ts";
import { loadConfig } from "../../src/config/load-config.ts";
import { classify } from "../../src/errors.ts";
import { guardWrites } from "../../src/leader/guard-writes.ts";
import { LeaseElector } from "../../src/leader/lease-elector.ts";
import { realSystem } from "../../src/system/real-system.ts";
import { createTransport } from "../../src/transport/transport.ts";
import { type ConfigMap, configMaps } from "./kinds.ts";

const [kubeconfigPath = "", namespace = "", identity = "", clockAheadMs = "0"] = process.argv.slice(2);
const real = realSystem();
const system = { ...real, wallMs: () => real.wallMs() + Number(clockAheadMs) };
const config = await loadConfig({ system, kubeconfigPath });
const transport = createTransport({ config, system, userAgent: `election/${identity}` });
const client = createClient({ transport });
const elector = new LeaseElector({ client, system, lease: { namespace, name: "leader" }, identity });
const guarded = guardWrites(client, elector);
const stopping = new AbortController();

process.on("SIGTERM", () => {
  stopping.abort();
});
process.on("SIGUSR2", () => {
  say("blocking");
  const endMs = system.monotonicMs() + 20_000;
  while (system.monotonicMs() < endMs);
  say("awake");
});

const writing = writeOn();
await elector.run(
  stopping.signal,
  () => {
    say("start");
  },
  () => {
    say("stop");
  },
);
await writing;
await transport[Symbol.asyncDispose]();

async function writeOn(): Promise<void> {
  let count = 0;
  while (!stopping.signal.aborted) {
    count += 1;
    const object: ConfigMap = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "world", namespace },
      data: { holder: identity, count: String(count) },
    };
    try {
      await guarded.apply(configMaps, object, {
        fieldManager: "world",
        force: true,
        signal: stopping.signal,
      });
    } catch (error) {
      // Not leading, or a write that was broken off: the next round shows.
      if (classify(error) === "bug") throw error;
    }
    await system.sleep(50);
  }
}

function say(what: string): void {
  process.stdout.write(`${JSON.stringify({ what, identity, atMs: Math.round(real.wallMs()) })}\n`);
}
