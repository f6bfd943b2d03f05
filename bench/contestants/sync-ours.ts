import { createManager, createTransport, loadConfig, realSystem } from "@quartermaster/runtime";

import { copies, pods } from "./kinds.ts";
import { say, timed } from "./report.ts";
import { readSettings } from "./settings.ts";

const { kubeconfigPath, namespace, plural, count } = readSettings();
const system = realSystem();
const transport = createTransport({ config: await loadConfig({ system, kubeconfigPath }), system });
const manager = createManager({ transport, system, controllers: [] });
manager.start();

const lap = await timed(async () => {
  const handle = manager.informers.acquire({ kind: plural === "pods" ? pods : copies, namespace });
  await handle.synced;
  if (handle.store.size !== count) throw new Error(`${handle.store.size} objects instead of ${count}`);
});
say("lap", lap);
