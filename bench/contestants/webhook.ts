import { join } from "node:path";

import {
  CertificateFiles,
  createManager,
  createTransport,
  loadConfig,
  realSystem,
  WebhookServer,
} from "@quartermaster/runtime";

import { pods } from "./kinds.ts";
import { orders, say } from "./report.ts";
import { readSettings } from "./settings.ts";
import { routes } from "./webhook-route.ts";

// Answers admission reviews; on `resync` it also fills the store of 10,000 pods again and again, until `rest`.
const { kubeconfigPath, namespace, count, folder } = readSettings();
const system = realSystem();
const transport = createTransport({ config: await loadConfig({ system, kubeconfigPath }), system });
const manager = createManager({ transport, system, controllers: [] });
manager.start();
const certificates = new CertificateFiles({
  system,
  certificatePath: join(folder, "tls.crt"),
  keyPath: join(folder, "tls.key"),
});
await certificates.refresh();
const server = new WebhookServer({ system, certificates, port: 0, host: "127.0.0.1", routes });
say("ready", { port: await server.listen() });

let resyncs = 0;

async function resync(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await using handle = manager.informers.acquire({ kind: pods, namespace });
    await handle.synced;
    if (handle.store.size !== count) throw new Error(`${handle.store.size} objects instead of ${count}`);
    resyncs += 1;
  }
}

let resting = new AbortController();
let running = Promise.resolve();
for await (const order of orders()) {
  if (order === "resync") {
    resting = new AbortController();
    running = resync(resting.signal);
  } else {
    resting.abort();
    await running;
  }
  say("done", { resyncs });
}
