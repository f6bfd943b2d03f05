import {
  createManager,
  createTransport,
  defineController,
  loadConfig,
  realSystem,
  type Recipe,
  settled,
} from "@quartermaster/runtime";

import { configMaps, copies, type Copy } from "./kinds.ts";
import { say } from "./report.ts";
import { readSettings } from "./settings.ts";

// The same controller as bench/peers/controller-runtime-go: one apply per object, no status, no finalizer.
const recipe: Recipe<Copy, { readonly copy: Copy; readonly text: string | undefined }, Copy> = {
  rules: [
    {
      name: "isCurrent",
      decide: ({ copy, text }) => (text === copy.spec.text ? { actions: [], outcome: settled() } : undefined),
    },
    { name: "differs", decide: ({ copy }) => ({ actions: [copy], outcome: settled() }) },
  ],
  observe: async (copy, ctx) =>
    await Promise.resolve({ copy, text: ctx.store(configMaps).get(copy.metadata)?.data?.["text"] }),
  perform: async ({ apiVersion, kind, metadata, spec }, ctx) => {
    const { name, namespace = "", uid = "" } = metadata;
    const ownerReferences = [{ apiVersion, kind, name, uid, controller: true }];
    const wanted = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name, namespace, ownerReferences },
      data: { text: spec.text },
    };
    await ctx.client.apply(configMaps, wanted, { fieldManager: "copies", force: true });
  },
  cleanUp: async () => await Promise.resolve(settled()),
};

const { kubeconfigPath, serviceAccountDirectory, namespace } = readSettings();
const system = realSystem();
const isInPod = serviceAccountDirectory !== "";
const config = await loadConfig(isInPod ? { system, serviceAccountDirectory } : { system, kubeconfigPath });
const transport = createTransport({ config, system, userAgent: "bench-copy" });
const controller = defineController(copies, {
  recipe,
  owns: [configMaps],
  namespace,
  concurrency: 8,
  writesStatus: false,
});
const manager = createManager({ transport, system, controllers: [controller] });
manager.start();
await manager.ready();
say("ready");
