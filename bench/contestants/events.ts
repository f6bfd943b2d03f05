import {
  createManager,
  createTransport,
  defineController,
  loadConfig,
  realSystem,
  type Recipe,
  settled,
} from "@quartermaster/runtime";

import { copies, type Copy } from "./kinds.ts";
import { cpuMs, orders, say } from "./report.ts";
import { readSettings } from "./settings.ts";

const { kubeconfigPath, namespace, count } = readSettings();
let events = 0;
let passes = 0;
let startMs = 0;
let startCpuMs = 0;

const nothingToDo: Recipe<Copy, undefined, never> = {
  rules: [{ name: "always", decide: () => ({ actions: [], outcome: settled() }) }],
  observe: async () => {
    passes += 1;
    return await Promise.resolve(undefined);
  },
  perform: async () => {
    await Promise.resolve();
  },
  cleanUp: async () => await Promise.resolve(settled()),
};

const system = realSystem();
const transport = createTransport({ config: await loadConfig({ system, kubeconfigPath }), system });
const controller = defineController(copies, { recipe: nothingToDo, namespace, writesStatus: false });
const manager = createManager({ transport, system, controllers: [controller] });
manager.start();
await manager.ready();
const handle = manager.informers.acquire({ kind: copies, namespace });
handle.addHandler(({ isInitial }) => {
  if (isInitial) return;
  events += 1;
  if (events % count === 1) {
    startMs = performance.now();
    startCpuMs = cpuMs();
    passes = 0;
  }
  if (events % count === 0) setImmediate(finishLap);
});

/** The queue is drained in the same turns that fill it; what is left is worked off before the time is taken. */
function finishLap(): void {
  const isBusy = manager.health().controllers.some(({ queued, active }) => queued + active > 0);
  if (isBusy) setImmediate(finishLap);
  else say("lap", { wallMs: performance.now() - startMs, cpuMs: cpuMs() - startCpuMs, passes });
}

say("ready");
for await (const order of orders()) if (order === "end") process.exit(0);
