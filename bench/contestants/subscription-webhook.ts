import { join } from "node:path";

import {
  createManager,
  createTransport,
  loadConfig,
  type Log,
  realSystem,
  run,
} from "@quartermaster/runtime";
import { subscriptionDomain } from "@quartermaster/subscription";

import { say } from "./report.ts";
import { followResyncOrders } from "./resync.ts";
import { readSettings } from "./settings.ts";

// The webhook role as it is shipped; on `resync` the same process also fills a store of pods again and again, until `rest`.
const { kubeconfigPath, namespace, count, directory } = readSettings();
const ignore = (): void => undefined;
const log: Log = {
  isDebug: false,
  debug: ignore,
  info: (_message, fields = {}) => {
    if ("webhookPort" in fields) say("ready", { port: fields["webhookPort"] });
  },
  warn: ignore,
  error: (message, fields) => {
    console.error(message, fields);
  },
  with: () => log,
};
const ended = run({
  name: "quartermaster",
  domains: [subscriptionDomain()],
  roles: ["webhook"],
  config: { kubeconfigPath },
  webhook: {
    address: { url: "https://127.0.0.1:1" }, // no controller keeps a configuration: the benchmark calls on its own
    namespace,
    port: 0,
    host: "127.0.0.1",
    files: { certificatePath: join(directory, "tls.crt"), keyPath: join(directory, "tls.key") },
  },
  port: 0,
  host: "127.0.0.1",
  log,
});
const system = realSystem();
const transport = createTransport({ config: await loadConfig({ system, kubeconfigPath }), system });
const manager = createManager({ transport, system, controllers: [] });
manager.start();
await Promise.race([ended, followResyncOrders({ manager, namespace, count })]);
