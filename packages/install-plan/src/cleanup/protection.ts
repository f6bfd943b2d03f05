import type { InstallPlan } from "@quartermaster/api";
import { classify, type Context, defineKind, type Kind, type KubeObject } from "@quartermaster/runtime";

import { fieldOf, listOf, textOf } from "../manifest/json-object.ts";
import { isCrd } from "../manifest/provided-kinds.ts";
import { isMarkedBy } from "../marks.ts";
import type { Entry } from "../world/inventory.ts";

/** An object that may hold what others put there. */
export interface Holder {
  readonly entry: Entry;
  readonly kind: Kind;
  readonly live: KubeObject;
  readonly plan: InstallPlan;
}

/** Why deleting the object would destroy what the plan did not make; undefined when it would not. */
export async function protectionOf({ entry, live, plan }: Holder, ctx: Context): Promise<string | undefined> {
  if (!entry.lifecycle.protectData) return undefined;
  if (entry.identity.kind === "PersistentVolumeClaim") return "it holds data";
  if (isCrd(entry.identity)) return await objectsOfOthers(live, plan, ctx);
  return undefined;
}

/** A CRD takes every object of its kind with it. A doubt counts as a yes. */
async function objectsOfOthers(
  crd: KubeObject,
  plan: InstallPlan,
  ctx: Context,
): Promise<string | undefined> {
  const spec = fieldOf(crd, "spec");
  const served = listOf(spec, "versions").find((version) => fieldOf(version, "served") === true);
  const version = textOf(served, "name");
  if (version === undefined) return undefined;
  const kind = defineKind({
    group: textOf(spec, "group") ?? "",
    version,
    kind: textOf(fieldOf(spec, "names"), "kind") ?? "",
    plural: textOf(fieldOf(spec, "names"), "plural") ?? "",
    scope: fieldOf(spec, "scope") === "Cluster" ? "Cluster" : "Namespaced",
  });
  try {
    for await (const object of ctx.client.list(kind))
      if (!isMarkedBy(object, plan.metadata))
        return `${object.metadata.name} and perhaps others are not the plan's`;
    return undefined;
  } catch (error) {
    if (classify(error) === "notFound") return undefined;
    throw error;
  }
}
