import { installPlan } from "@quartermaster/api";
import { jobs } from "@quartermaster/runtime/kinds";
import { connect, earlyWrite, type Workload, type WorkloadRun, writeByOther } from "@quartermaster/testkit";

import { configMap, job } from "./manifests.ts";
import { configMaps, setUpWorkbench, type Workbench } from "./workbench.ts";

/** Two stages with a job between them, replaced by a plan that drops an object, then deleted: every write of a plan's life. */
export const planWorkload: Workload = {
  name: "plan",
  setUp: async () => await planRun(async (bench) => [...(await installAndReplace(bench)), deletion(bench)]),
};

type Steps = WorkloadRun["steps"];

async function planRun(stepsOf: (bench: Workbench) => Promise<Steps>): Promise<WorkloadRun> {
  const bench = await setUpWorkbench({ isOperating: false });
  const { namespace, operatorAccess, api } = bench;
  let lives = new AsyncDisposableStack();
  return {
    api,
    operator: operatorAccess,
    aliases: { [namespace]: "ns" },
    primaryPaths: ["a", "b"].map(
      (name) => `/apis/install.quartermaster.dev/v1alpha1/namespaces/${namespace}/installplans/${name}`,
    ),
    operate: async (access) => {
      const { transport } = lives.use(connect(access));
      lives.use(await bench.operate({ transport }));
    },
    stop: async () => {
      await lives.disposeAsync();
      lives = new AsyncDisposableStack();
    },
    steps: await stepsOf(bench),
    endState: async () => await endState(bench),
    isCleared: async () => await isCleared(bench),
    judgeTrace: (trace) =>
      earlyWrite(trace, { aliases: { [namespace]: "ns" }, stages }) ??
      writeByOther(trace, {
        user: `system:serviceaccount:${namespace}:${bench.account}`,
        isOwn: ({ resource }) => resource === "installplans",
      }),
    [Symbol.asyncDispose]: async () => {
      await lives.disposeAsync();
      await bench[Symbol.asyncDispose]();
    },
  };
}

/** Writes of the first plan, stage by stage; the job follows the objects of its stage. */
const stages = [
  [/^patch configmaps kept$/, /^patch configmaps dropped$/],
  [/^create jobs a-first-migrate-/],
  [/^patch configmaps last$/],
];

async function installAndReplace(bench: Workbench): Promise<Steps> {
  const isReady = async (name: string): Promise<boolean> =>
    (await bench.read(name)).status?.conditions?.some(
      ({ type, status }) => type === "Ready" && status === "True",
    ) === true;
  return await Promise.resolve([
    {
      name: "install",
      act: async () => {
        await bench.create(
          bench.plan("a", [
            {
              name: "first",
              resources: [configMap("kept"), configMap("dropped")],
              jobs: [job("migrate", "complete")],
            },
            { name: "second", resources: [configMap("last")] },
          ]),
        );
      },
      isDone: async () => await isReady("a"),
    },
    {
      name: "replace",
      act: async () => {
        await bench.create(
          bench.plan("b", [{ name: "first", resources: [configMap("kept", { a: "2" }), configMap("new")] }], {
            replaces: { plans: [{ name: "a" }], finishWhen: "Ready", onFailure: "Hold" },
          }),
        );
      },
      isDone: async () =>
        (await isReady("b")) &&
        (await plans(bench)).every(
          ({ metadata, status }) => metadata.name !== "a" || status?.phase === "Superseded",
        ),
    },
  ]);
}

function deletion(bench: Workbench): Steps[number] {
  return {
    name: "delete",
    act: async () => {
      await bench.deletePlan("b");
    },
    isDone: async () => (await plans(bench)).every(({ metadata }) => metadata.name !== "b"),
  };
}

async function plans({ client, namespace }: Workbench) {
  return (await client.listPage(installPlan.kind, { namespace })).items;
}

async function endState(bench: Workbench): Promise<unknown> {
  const { client, namespace } = bench;
  const { items } = await client.listPage(configMaps, { namespace });
  const made = items.filter(({ metadata }) => metadata.name !== "kube-root-ca.crt");
  const { items: ran } = await client.listPage(jobs, { namespace });
  return {
    objects: made.map(({ metadata, data }) => [metadata.name, data, metadata.labels]),
    jobs: ran.length,
    plans: (await plans(bench)).map(({ metadata, status }) => [metadata.name, status?.phase]),
  };
}

/** Whether no plan is left in deletion, and no object without its plan. */
async function isCleared(bench: Workbench): Promise<boolean> {
  const left = await plans(bench);
  const { items } = await bench.client.listPage(configMaps, { namespace: bench.namespace });
  const owners = items.flatMap(({ metadata }) => metadata.labels?.["install.quartermaster.dev/plan"] ?? []);
  const names = left.map(({ metadata }) => metadata.name);
  return (
    left.every(({ metadata }) => metadata.deletionTimestamp === undefined) &&
    owners.every((owner) => names.includes(owner))
  );
}
