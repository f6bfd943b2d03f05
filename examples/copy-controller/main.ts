// Keeps a ConfigMap with the text of each Copy, and makes it again when another client deletes or edits it.
import { defineController, defineKind, type KubeObject, run } from "@quartermaster/runtime";
import { configMaps } from "@quartermaster/runtime/kinds";

interface Copy extends KubeObject {
  readonly spec: { readonly text: string };
}
const copies = defineKind<Copy>({
  group: "example.org",
  version: "v1",
  kind: "Copy",
  plural: "copies",
  scope: "Namespaced",
});

const controller = defineController(copies, {
  owns: [configMaps],
  reconcile: async ({ metadata: { name }, spec: { text } }, ctx) => {
    await ctx.apply(configMaps, { metadata: { name }, data: { text } });
  },
});

await run({ name: "copy-controller", controllers: [controller] });
