import { installPlan, type InstallPlan } from "@quartermaster/api";
import type { Client, KubeObject, ObjectRef, ReadStore } from "@quartermaster/runtime";
import { eventually } from "@quartermaster/testkit";

/** A ConfigMap as written in files and plans. */
export interface SmallObject extends KubeObject {
  readonly data: Readonly<Record<string, string>>;
}

/** Some ConfigMaps of 100 bytes. */
export function someConfigMaps(namespace: string, count: number): readonly SmallObject[] {
  return Array.from({ length: count }, (_, index) => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: `map-${String(index).padStart(4, "0")}`, namespace },
    data: { text: `${index} `.padEnd(100, "x") },
  }));
}

/** A plan of these objects, in stages of 500 as the API allows. */
export function planOf(
  { namespace = "", name }: ObjectRef,
  objects: readonly KubeObject[],
  concurrency: number,
): InstallPlan {
  const starts = Array.from({ length: Math.ceil(objects.length / stageLimit) }, (_, index) => index);
  const stages = starts.map((index) => ({
    name: `stage-${index + 1}`,
    concurrency,
    resources: objects.slice(index * stageLimit, (index + 1) * stageLimit).map((manifest) => ({ manifest })),
  }));
  const spec = { serviceAccountName: "installer", stages };
  const plan = {
    apiVersion: "install.quartermaster.dev/v1alpha1",
    kind: "InstallPlan",
    metadata: { namespace, name },
    spec,
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the server fills in the defaults
  return plan as unknown as InstallPlan;
}

const stageLimit = 500;

/** Plans as a watch tells them: requesting a plan of 1,000 objects again and again would slow down what is measured. */
export type PlanStore = Pick<ReadStore<InstallPlan>, "get">;

/** The plan once it says of its latest spec that all is ready. */
export async function untilReady(plans: PlanStore, ref: ObjectRef, withinMs = 300_000): Promise<InstallPlan> {
  return await until(plans, ref, { withinMs, type: "Ready" });
}

/** The plan once it says that everything is applied. */
export async function untilApplied(
  plans: PlanStore,
  ref: ObjectRef,
  withinMs = 300_000,
): Promise<InstallPlan> {
  return await until(plans, ref, { withinMs, type: "Applied" });
}

async function until(
  plans: PlanStore,
  ref: ObjectRef,
  { withinMs, type }: { readonly withinMs: number; readonly type: string },
): Promise<InstallPlan> {
  return await eventually(
    (see) => {
      const plan = plans.get(ref);
      const { conditions = [], observedGeneration } = see(plan?.status) ?? {};
      const isTrue = conditions.some((condition) => condition.type === type && condition.status === "True");
      return isTrue && observedGeneration === plan?.metadata.generation ? plan : undefined;
    },
    { withinMs, everyMs: 5 },
  );
}

/** Deletes the plan and waits until it no longer exists, and with it all that it made. */
export async function deletePlan({ client, plans }: PlanRoom, ref: ObjectRef): Promise<void> {
  await client.delete(installPlan.kind, ref);
  await eventually((see) => see(plans.get(ref)?.status ?? "gone") === "gone", {
    withinMs: 300_000,
    everyMs: 5,
  });
}

/** Where plans are written and seen. */
export interface PlanRoom {
  readonly client: Client;
  readonly plans: PlanStore;
}
