import { type InstallPlan, installPlan } from "@quartermaster/api";

import type { Cluster } from "./connect.ts";

/** Sets an annotation by which a person tells the operator something; with the uid, so that it means the plan that was looked at. */
export async function confirmPlan(
  { metadata }: InstallPlan,
  { annotation, value }: { readonly annotation: string; readonly value: string },
  { cluster, signal }: { readonly cluster: Cluster; readonly signal: AbortSignal },
): Promise<InstallPlan> {
  const { name, namespace = "", uid } = metadata;
  const body = { metadata: { uid, annotations: { [annotation]: value } } };
  const options = { patch: { kind: "merge", body }, fieldManager: "qm", signal } as const;
  return await cluster.client.patch(installPlan.kind, { name, namespace }, options);
}
