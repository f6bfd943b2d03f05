import type { InstallPlan } from "@quartermaster/api";
import { identityOf } from "@quartermaster/install-plan/offline";
import { classify, type KubeObject } from "@quartermaster/runtime";

import type { ObjectDiff } from "../render/diff-text.ts";
import type { Cluster } from "./connect.ts";

type Detail = NonNullable<NonNullable<NonNullable<InstallPlan["status"]>["preview"]>["details"]>[number];

/** What the plan will delete when it replaces or transforms, by the operator's own preview, as far as it is still there. */
export async function deletionsOf(
  { status }: InstallPlan,
  cluster: Cluster,
  signal: AbortSignal,
): Promise<readonly ObjectDiff[]> {
  if (status?.finishedAt !== undefined) return [];
  const listed = (status?.preview?.details ?? []).filter(({ action }) => action === "delete");
  const found = await Promise.all(
    listed.map(async (detail) => ((await isThere(detail, cluster, signal)) ? [detail] : [])),
  );
  return found.flat().map(({ object, stage }) => ({
    object: identityOf(asObject(object)),
    stage,
    action: "delete",
    changes: [],
  }));
}

/** What is wrong with the list: not made yet, or longer than a status holds. Undefined when nothing is. */
export function deletionsUnknown({ spec, status }: InstallPlan): string | undefined {
  const mayDelete = spec.replaces !== undefined || (spec.transformations ?? []).length > 0;
  if (!mayDelete || status?.finishedAt !== undefined) return undefined;
  const { preview } = status ?? {};
  if (preview === undefined)
    return "deletions are not known yet: the operator has not created a preview; run qm plan explain for the reason";
  const listed = (preview.details ?? []).filter(({ action }) => action === "delete").length;
  if (listed >= preview.delete) return undefined;
  return `the plan deletes ${preview.delete} objects; its preview lists ${listed} of them`;
}

function asObject({ apiVersion, kind, namespace, name }: Detail["object"]): KubeObject {
  return { apiVersion, kind, metadata: { name, ...(namespace === undefined ? {} : { namespace }) } };
}

/** An object that the user may not read is shown all the same. */
async function isThere({ object }: Detail, cluster: Cluster, signal: AbortSignal): Promise<boolean> {
  try {
    const kind = await cluster.discovery.find(object, { signal });
    return (await cluster.client.find(kind, asObject(object).metadata, { signal })) !== undefined;
  } catch (error) {
    if (classify(error) === "forbidden") return true;
    if (classify(error) === "notFound") return false;
    throw error;
  }
}
