import { apiVersionOf } from "../../src/object/kind.ts";
import { settled } from "../../src/reconcile/outcome.ts";
import type { Recipe } from "../../src/reconcile/recipe.ts";
import { type ConfigMap, configMaps } from "./kinds.ts";
import type { Widget } from "./widgets.ts";

export interface CopySeen {
  readonly widget: Widget;
  readonly copy: ConfigMap | undefined;
}

export interface CopyAction {
  readonly kind: "write";
  readonly widget: Widget;
}

export const copyFinalizer = "example.org/copy";

/** Keeps a ConfigMap of the widget's name with the widget's text. */
export const copyRecipe: Recipe<Widget, CopySeen, CopyAction> = {
  finalizer: copyFinalizer,
  rules: [
    {
      name: "copyDiffers",
      decide: ({ widget, copy }) =>
        copy?.data?.["text"] === (widget.spec.text ?? "")
          ? undefined
          : {
              actions: [{ kind: "write", widget }],
              outcome: settled(),
              status: { text: widget.spec.text ?? "" },
            },
    },
    {
      name: "copyIsCurrent",
      decide: ({ widget }) => ({ actions: [], outcome: settled(), status: { text: widget.spec.text ?? "" } }),
    },
  ],
  observe: async (widget, ctx) =>
    await Promise.resolve({ widget, copy: ctx.store(configMaps).get(widget.metadata) }),
  perform: async ({ widget }, ctx) => {
    const { name, namespace = "", uid = "" } = widget.metadata;
    const owner = { apiVersion: widget.apiVersion, kind: widget.kind, name, uid, controller: true };
    await ctx.client.apply(
      configMaps,
      {
        apiVersion: apiVersionOf(configMaps),
        kind: "ConfigMap",
        metadata: { name, namespace, ownerReferences: [owner] },
        data: { text: widget.spec.text ?? "" },
      },
      { fieldManager: "copies", force: true },
    );
    ctx.events.record({
      type: "Normal",
      reason: "Copied",
      action: "WriteCopy",
      note: "The copy was written.",
    });
  },
  cleanUp: async (widget, ctx) => {
    const copy = await ctx.client.find(configMaps, widget.metadata);
    if (copy !== undefined) await ctx.client.delete(configMaps, widget.metadata);
    return settled();
  },
};
