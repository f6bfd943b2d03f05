import { join } from "node:path";

import {
  CertificateFiles,
  createManager,
  createTransport,
  loadConfig,
  realSystem,
  WebhookServer,
} from "@quartermaster/runtime";

import { say } from "./report.ts";
import { followResyncOrders } from "./resync.ts";
import { readSettings } from "./settings.ts";
import { routes } from "./webhook-route.ts";

// Answers admission reviews; on `resync` it also fills the store of 10,000 pods again and again, until `rest`.
const { kubeconfigPath, namespace, count, directory } = readSettings();
const system = realSystem();
const transport = createTransport({ config: await loadConfig({ system, kubeconfigPath }), system });
const manager = createManager({ transport, system, controllers: [] });
manager.start();
const certificates = new CertificateFiles({
  system,
  certificatePath: join(directory, "tls.crt"),
  keyPath: join(directory, "tls.key"),
});
await certificates.refresh();
const server = new WebhookServer({ system, certificates, port: 0, host: "127.0.0.1", routes });
say("ready", { port: await server.listen() });
await followResyncOrders({ manager, namespace, count });
