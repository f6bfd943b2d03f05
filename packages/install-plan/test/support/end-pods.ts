import { defineKind, type Kind, type KubeObject } from "@quartermaster/runtime";
import { eventually } from "@quartermaster/testkit";

import type { Workbench } from "./workbench.ts";

const pods: Kind<KubeObject & { readonly status?: { readonly phase?: string } }> = defineKind({
  group: "",
  version: "v1",
  kind: "Pod",
  plural: "pods",
  scope: "Namespaced",
});

/** Says of every running pod what a kubelet would say when it ends. */
export async function endPods(bench: Workbench, phase: string): Promise<void> {
  const running = await eventually(async () => {
    const { items } = await bench.client.listPage(pods, { namespace: bench.namespace });
    const found = items.filter(({ status }) => status?.phase === "Running");
    return found.length > 0 ? found : undefined;
  });
  for (const { metadata } of running)
    await bench.client.patch(pods, metadata, {
      subresource: "status",
      patch: { kind: "merge", body: { status: { phase } } },
    });
}
