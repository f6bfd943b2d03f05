import type { Transport } from "@quartermaster/runtime";
import { jobs } from "@quartermaster/runtime/kinds";
import {
  connect,
  eventually,
  type Fault,
  type FaultProxy,
  isWritePoint,
  type OperatorProcess,
  type RequestMatch,
  startFaultProxy,
  startOperator,
} from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { clusterRoleBindings } from "../support/kinds.ts";
import { configMap, job } from "../support/manifests.ts";
import { configMaps, setUpWorkbench, type Workbench } from "../support/workbench.ts";

interface Scene extends AsyncDisposable {
  readonly bench: Workbench;
  readonly proxy: FaultProxy;
  /** Starts the operator as a process that reaches the API server through the proxy. */
  start(): Promise<OperatorProcess>;
}

async function setUp(): Promise<Scene> {
  const stack = new AsyncDisposableStack();
  const bench = stack.use(await setUpWorkbench({ isOperating: false }));
  const proxy = stack.use(await startFaultProxy({ upstream: bench.operatorAccess }));
  const access = { ...proxy.access, token: bench.operatorAccess.token };
  return {
    bench,
    proxy,
    start: async () => stack.use(await startOperator(access, ["--watch-namespace", bench.namespace])),
    [Symbol.asyncDispose]: async () => {
      await stack.disposeAsync();
    },
  };
}

const names = ["c0", "c1", "c2", "c3", "c4", "c5"];
const writeOf =
  (resource: string, wanted?: string): RequestMatch =>
  ({ name, ...request }) =>
    isWritePoint({ ...request, name }) && request.resource === resource && (wanted ?? name) === name;

/** How a write ends at which the operator is stopped, and what is left to do after that. */
interface Ending {
  readonly fate: string;
  readonly left: readonly string[];
  /** Writes after it that are not answered any more. */
  readonly held?: RequestMatch;
  readonly problemOf: (end: () => void) => Fault;
}

const endThenPassOn = (end: () => void): Fault => ({
  kind: "interleave",
  act: async () => {
    await Promise.resolve();
    end();
  },
});

const endings: readonly Ending[] = [
  { fate: "finished, with those after it", left: [], problemOf: endThenPassOn },
  { fate: "dropped", left: ["c3", "last"], problemOf: (kill) => ({ kind: "crash-before", kill }) },
  {
    fate: "the last one that is answered",
    left: ["c4", "c5", "last"],
    held: ({ name, ...request }) => writeOf("configmaps")({ name, ...request }) && name !== "c3",
    problemOf: endThenPassOn,
  },
];

describe("an operator that is stopped", () => {
  test.each(endings)(
    "[faults/C4,20] at a write that is $fate ends in its grace period, and what is left is done by the next one",
    { timeout: 180_000 },
    async ({ left, held, problemOf }) => {
      await using scene = await setUp();
      const { bench, proxy } = scene;
      await using operator = await scene.start();
      await eventually((see) => see(operator.output).includes("operator started"));
      const begin = await bench.audit.position();
      const { struck } = proxy.inject(
        writeOf("configmaps", "c3"),
        problemOf(() => {
          operator.terminate();
          if (held !== undefined) proxy.inject(held, { kind: "hold-request" }, Number.POSITIVE_INFINITY);
        }),
      );
      const stages = [
        { name: "s", resources: names.map((name) => configMap(name)) },
        { name: "t", resources: [configMap("last")] },
      ];
      await bench.create(bench.plan("p", stages));
      await struck;
      await eventually((see) => see(operator.exitCode) !== undefined, { withinMs: 40_000 });
      expect(operator.exitCode).toBe(0);
      const { status } = await bench.read("p");
      expect(status?.phase).not.toBe("Failed");
      const position = await bench.audit.position();
      const written = async (since: typeof position): Promise<readonly (string | undefined)[]> =>
        (await bench.writes(since)).filter(({ code }) => code < 300).map(({ name }) => name);
      const all = [...names, "last"];
      expect(await written(begin)).toEqual(all.filter((name) => !left.includes(name)));
      proxy.heal();
      operator.start();
      await bench.installed("p");
      expect(await written(position)).toEqual(left);
    },
  );
});

describe("an operator that is killed", () => {
  test("[faults/C6] while it reads the first list: the next one begins from nothing and ends in the same way", async () => {
    await using scene = await setUp();
    const { bench, proxy } = scene;
    for (const plan of ["p", "q", "r"])
      await bench.create(bench.plan(plan, [{ name: "s", resources: [configMap(`of-${plan}`)] }]));
    const begin = await bench.audit.position();
    const operator: { current?: OperatorProcess } = {};
    const isFirst: RequestMatch = ({ verb, resource }) => verb === "watch" && resource === "installplans";
    const { struck } = proxy.inject(isFirst, {
      kind: "watch",
      transform: async function* afterOne(frames) {
        for await (const frame of frames) {
          yield frame;
          operator.current?.kill();
          return;
        }
      },
    });
    await using running = await scene.start();
    operator.current = running;
    await struck;
    await running.ended();
    expect(await bench.writes(begin)).toEqual([]);
    running.start();
    for (const plan of ["p", "q", "r"]) await bench.installed(plan);
    const written = (await bench.writes(begin)).map(({ verb, name }) => `${verb} ${name}`);
    expect(written.toSorted()).toEqual(["patch of-p", "patch of-q", "patch of-r"]);
  });

  test.each([
    { when: "the create of its job has no answer", match: writeOf("jobs"), isAfterJob: false },
    {
      when: "its job is done and the status does not say so",
      match: writeOf("installplans"),
      isAfterJob: true,
    },
  ])(
    "[faults/21] when $when: the stage counts as done and the job runs once",
    { timeout: 180_000 },
    async ({ match, isAfterJob }) => {
      await using scene = await setUp();
      const { bench, proxy } = scene;
      const begin = await bench.audit.position();
      await using operator = await scene.start();
      const kill = (): void => operator.kill();
      const atSuccess: Fault = {
        kind: "interleave",
        act: async ({ body }) => {
          await Promise.resolve();
          if (!body.includes('"Succeeded"')) return;
          proxy.heal();
          kill();
          throw new Error("killed before the write left");
        },
      };
      proxy.inject(
        match,
        isAfterJob ? atSuccess : { kind: "crash-after-commit", kill },
        isAfterJob ? 1_000 : 1,
      );
      await bench.create(
        bench.plan("p", [
          {
            name: "a",
            resources: [configMap("first")],
            jobs: [job("migrate", "complete", { keep: "Always" })],
          },
          { name: "b", resources: [configMap("second")] },
        ]),
      );
      await operator.ended();
      operator.start();
      const { status } = await bench.installed("p");
      expect(status?.jobs).toMatchObject([{ stage: "a", name: "migrate", state: "Succeeded", attempt: 1 }]);
      const created = (await bench.writes(begin)).filter(
        ({ verb, resource }) => `${verb} ${resource}` === "create jobs",
      );
      expect(created.map(({ code }) => code)).toEqual([201]);
      const { items } = await bench.client.listPage(jobs, { namespace: bench.namespace });
      expect(items).toHaveLength(1);
    },
  );
});

/** Gives a request up after three seconds instead of thirty. */
function impatient(transport: Transport): Transport {
  const limitMs = 3_000;
  return {
    send: async (request) =>
      await transport.send({ ...request, timeoutMs: Math.min(request.timeoutMs ?? limitMs, limitMs) }),
    openStream: async (path, options) => await transport.openStream(path, options),
    [Symbol.asyncDispose]: async () => await transport[Symbol.asyncDispose](),
  };
}

describe("a write of a plan", () => {
  test.each<{ readonly id: string; readonly kind: "hold-request" | "hold-answer" }>([
    { id: "E4", kind: "hold-request" },
    { id: "E5", kind: "hold-answer" },
  ])(
    "[faults/$id] that gets no response in time is settled by reading: nothing is made twice",
    async ({ kind }) => {
      await using scene = await setUp();
      const { bench, proxy } = scene;
      await using link = connect({ ...proxy.access, token: bench.operatorAccess.token });
      await bench.operate({ transport: impatient(link.transport) });
      const begin = await bench.audit.position();
      const held = [writeOf("configmaps", "first"), writeOf("jobs")].map((match) =>
        proxy.inject(match, { kind }),
      );
      await bench.create(
        bench.plan("p", [
          {
            name: "a",
            resources: [configMap("first")],
            jobs: [job("migrate", "complete", { keep: "Always" })],
          },
          { name: "b", resources: [configMap("second")] },
        ]),
      );
      const { status } = await bench.installed("p", 100_000);
      expect(held.map(({ hits }) => hits)).toEqual([1, 1]);
      expect(status?.jobs).toMatchObject([{ name: "migrate", state: "Succeeded", attempt: 1 }]);
      const made = (await bench.writes(begin)).filter(({ code }) => code === 201);
      expect(made.map(({ verb, resource, name }) => `${verb} ${resource} ${name ?? ""}`)).toEqual([
        "patch configmaps first",
        expect.stringMatching(/^create jobs /),
        "patch configmaps second",
      ]);
    },
  );

  test("[faults/E7] continues when the operator's binding, which another client removed, is back", async () => {
    await using bench = await setUpWorkbench();
    const { client, namespace } = bench;
    await bench.create(bench.plan("p", [{ name: "s", resources: [configMap("c")] }]));
    await bench.installed("p");
    const name = `${namespace}-operator`;
    const { metadata: _metadata, ...binding } = await client.get(clusterRoleBindings, { name });
    await client.delete(clusterRoleBindings, { name });
    const position = await bench.audit.position();
    const edit = {
      patch: { kind: "merge", body: { data: { a: "edited" } } },
      fieldManager: "kubectl-edit",
    } as const;
    await client.patch(configMaps, { namespace, name: "c" }, edit);
    await eventually(async () =>
      (await bench.audit.since(position, { user: bench.operator })).some(({ code }) => code === 403),
    );
    await client.create(clusterRoleBindings, { ...binding, metadata: { name } });
    await eventually(
      async (see) => see((await client.get(configMaps, { namespace, name: "c" })).data)?.["a"] === "1",
    );
    await bench.installed("p");
  });
});
