import { loadConfig } from "../../src/config/load-config.ts";
// An operator under load, as a process of its own: a test sends it SIGTERM. Arguments: kubeconfig, namespace, kind as JSON.
import { defineController } from "../../src/controller/define-controller.ts";
import { createManager } from "../../src/manager/manager.ts";
import type { Kind } from "../../src/object/kind.ts";
import { settled } from "../../src/reconcile/outcome.ts";
import { realSystem } from "../../src/system/real-system.ts";
import { createTransport } from "../../src/transport/transport.ts";
import { configMaps } from "./kinds.ts";
import type { Widget } from "./widgets.ts";

const [kubeconfigPath = "", namespace = "", kindText = "", mode = ""] = process.argv.slice(2);
const kind = JSON.parse(kindText) as Kind<Widget>;
const system = realSystem();
const config = await loadConfig({ system, kubeconfigPath });
const transport = createTransport({ config, system, userAgent: `load-${namespace}` });

const controller = defineController<Widget, Widget, Widget>(kind, {
  namespace,
  concurrency: 4,
  recipe: {
    observe: async (widget) => await Promise.resolve(widget),
    rules: [{ name: "always", decide: (widget) => ({ actions: [widget], outcome: settled() }) }],
    perform: async ({ metadata: { name } }, ctx) => {
      // A stubborn reconcile never ends on its own and ignores its signal.
      if (mode === "stubborn" && name === "w-0") await new Promise(() => undefined);
      for (const part of ["a", "b", "c"]) {
        const metadata = { name: `${name}-${part}`, namespace };
        const object = {
          apiVersion: "v1",
          kind: "ConfigMap",
          metadata,
          data: { at: String(system.wallMs()) },
        };
        await ctx.client.apply(configMaps, object, { fieldManager: "load", force: true });
        await system.sleep(20);
      }
    },
    cleanUp: async () => await Promise.resolve(settled()),
  },
});

const manager = createManager({
  transport,
  system,
  controllers: [controller],
  graceMs: mode === "stubborn" ? 7_000 : 30_000,
});
manager.start();
await manager.ready();
process.stdout.write("working\n");
process.once("SIGTERM", () => {
  void manager.stop().then(async () => {
    process.stdout.write("stopped\n");
    // Would show writes after the announcement, if there were any.
    await system.sleep(500);
    await transport[Symbol.asyncDispose]();
    process.exit(0);
  });
});
