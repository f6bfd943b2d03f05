// Keeps a ConfigMap with the text of each Copy, and makes it again when somebody deletes or edits it.
import {
  createManager,
  createTransport,
  defineController,
  defineKind,
  type KubeObject,
  loadConfig,
  realSystem,
  type Recipe,
  settled,
} from "@quartermaster/runtime";

interface Copy extends KubeObject {
  readonly spec: { readonly text: string };
}
interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}
const scope = "Namespaced";
const copies = defineKind<Copy>({
  group: "example.org",
  version: "v1",
  kind: "Copy",
  plural: "copies",
  scope,
});
const configMaps = defineKind<ConfigMap>({
  group: "",
  version: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  scope,
});

const recipe: Recipe<Copy, { readonly copy: Copy; readonly made: ConfigMap | undefined }, Copy> = {
  observe: (copy, ctx) => Promise.resolve({ copy, made: ctx.store(configMaps).get(copy.metadata) }),
  rules: [
    {
      name: "textDiffers",
      answer: ({ copy, made }) =>
        made?.data?.["text"] === copy.spec.text ? undefined : { actions: [copy], outcome: settled() },
    },
    { name: "textIsCurrent", answer: () => ({ actions: [], outcome: settled() }) },
  ],
  perform: async ({ apiVersion, kind, metadata: { name, namespace = "", uid = "" }, spec }, ctx) => {
    const ownerReferences = [{ apiVersion, kind, name, uid, controller: true }];
    const metadata = { name, namespace, ownerReferences };
    const configMap = { apiVersion: "v1", kind: "ConfigMap", metadata, data: { text: spec.text } };
    await ctx.client.apply(configMaps, configMap, { fieldManager: "copy-controller", force: true });
  },
  cleanUp: () => Promise.resolve(settled()), // the owner reference sees to it
};

const system = realSystem();
await using transport = createTransport({ config: await loadConfig({ system }), system });
const controllers = [defineController({ kind: copies, recipe, owns: [configMaps] })];
await using manager = createManager({ transport, system, controllers, name: "copy-controller" });
manager.start();
await new Promise((resolve) => process.once("SIGTERM", resolve).once("SIGINT", resolve));
