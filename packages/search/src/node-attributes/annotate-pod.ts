import { ExternalError } from "@quartermaster/runtime";
import { nodes, pods } from "@quartermaster/runtime/kinds";

import type { PerformContext } from "../perform-context.ts";
import { searchReasons } from "../reasons.ts";
import type { ActionOf } from "../search-action.ts";
import { attributeAnnotation } from "../workload/attribute-annotation.ts";

/** Copies the labels that the spec names from the machine onto the pod, all in one write. */
export async function annotatePod(
  { name, uid, machine }: ActionOf<"annotatePod">,
  { ctx, cluster: { namespace, nodeAttributes = [] } }: PerformContext,
): Promise<void> {
  const live = await ctx.client.find(nodes, { name: machine }, { isMetadataOnly: true });
  const labels = live?.metadata.labels ?? {};
  const missing = nodeAttributes.filter(({ nodeLabel }) => (labels[nodeLabel] ?? "") === "");
  if (missing.length > 0)
    throw new ExternalError(
      `Machine ${machine} of pod ${name} lacks labels that general.nodeAttributes names: ${missing.map(({ nodeLabel }) => nodeLabel).join(", ")}. Label the machine, or remove the attribute.`,
      { class: "refused", reason: searchReasons.awaitingMaterial },
    );
  const annotations = Object.fromEntries(
    nodeAttributes.map((each) => [attributeAnnotation(each.name), labels[each.nodeLabel]]),
  );
  const body = { metadata: { uid, annotations } };
  await ctx.client.patch(pods, { namespace, name }, { patch: { kind: "merge", body } });
}
