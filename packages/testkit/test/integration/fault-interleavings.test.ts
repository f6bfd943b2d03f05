import { ApiClient } from "@quartermaster/local-cluster";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { interleave, type DisturbanceId } from "../../src/fault-walk/disturbance.ts";
import { Lives } from "../../src/fault-walk/lives.ts";
import { type RawObject, readObject } from "../../src/fault-walk/target.ts";
import {
  type Access,
  aConfigMap,
  eventually,
  type FaultProxy,
  isWritePoint,
  joinSharedCluster,
  makeNamespace,
  startFaultProxy,
  type WorkloadRun,
} from "../../src/index.ts";

const cluster = joinSharedCluster();
let proxy: FaultProxy;
let client: ApiClient;

beforeAll(async () => {
  proxy = await startFaultProxy({ upstream: cluster.admin });
  client = new ApiClient({ ...proxy.access, token: cluster.admin.token });
});
afterAll(async () => {
  client[Symbol.dispose]();
  await proxy[Symbol.asyncDispose]();
  cluster[Symbol.dispose]();
});

const merge = "application/merge-patch+json";

/** A user's object, and one that an operator made for it and is about to patch after it has read it. */
async function aScene() {
  const namespace = await makeNamespace(cluster.api);
  const path = `/api/v1/namespaces/${namespace.name}/configmaps`;
  const made = async (body: object): Promise<RawObject> =>
    JSON.parse((await cluster.api.send({ method: "POST", path, body })).body) as RawObject;
  const owner = await made(aConfigMap({ name: "owner" }));
  const { name, uid } = owner.metadata;
  const metadata = {
    name: "child",
    labels: { app: "a" },
    ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name, uid }],
  };
  const child = await made({ apiVersion: "v1", kind: "ConfigMap", metadata, data: { a: "1" } });
  const run = {
    api: cluster.api,
    primaryPaths: [`${path}/owner`],
    retarget: async () => {
      await cluster.api.send({
        method: "PATCH",
        path: `${path}/owner`,
        body: { data: { spec: "changed" } },
        contentType: merge,
      });
    },
  } as unknown as WorkloadRun;
  return {
    child,
    owner: async () => await readObject(cluster.api, `${path}/owner`),
    /** The operator's write, which bears what it read where that is wanted; and the object right after it. */
    patched: async (id: DisturbanceId, preconditions: object) => {
      const injected = proxy.inject(isWritePoint, {
        kind: "interleave",
        act: async (request) => {
          await interleave(id, run, request);
        },
      });
      const body = { metadata: preconditions, data: { a: "2" } };
      const { status } = await client.send({
        method: "PATCH",
        path: `${path}/child`,
        body,
        contentType: merge,
      });
      expect(injected.hits).toBe(1);
      return { status, now: await readObject(cluster.api, `${path}/child`) };
    },
    [Symbol.asyncDispose]: async () => {
      proxy.heal();
      await namespace[Symbol.asyncDispose]();
    },
  };
}

const dataOf = (object: RawObject | undefined): unknown => object?.["data"];
const isPatched = (object: RawObject | undefined): boolean =>
  JSON.stringify(dataOf(object) ?? {}).includes('"a":"2"');

describe("another client acts between a read and a write", () => {
  test.each<{
    readonly id: DisturbanceId;
    readonly name: string;
    readonly status: number;
    /** What is found of the other client's act, where the write bore no precondition. */
    readonly trace: (now: RawObject | undefined, before: RawObject) => boolean;
  }>([
    {
      id: "I1",
      name: "[faults/I1] edits the object",
      status: 200,
      trace: (now) => now?.metadata.annotations !== undefined,
    },
    {
      id: "I4-deleted",
      name: "[faults/I4] deletes the child",
      status: 404,
      trace: (now) => now === undefined,
    },
    {
      id: "I4-labels",
      name: "[faults/I4] takes the labels of the child",
      status: 200,
      trace: (now) => now?.metadata.labels === undefined,
    },
    {
      id: "I4-owners",
      name: "[faults/I4] takes the owner of the child",
      status: 200,
      trace: (now) => now?.metadata.ownerReferences === undefined,
    },
    {
      id: "I5",
      name: "[faults/I5] deletes the object and creates another one of its name",
      status: 200,
      trace: (now, before) => now !== undefined && now.metadata.uid !== before.metadata.uid,
    },
  ])(
    "$name: the write meets it, and is refused with the version that was read",
    async ({ id, status, trace }) => {
      await using bare = await aScene();
      const met = await bare.patched(id, {});
      expect({ status: met.status, isTraced: trace(met.now, bare.child) }).toEqual({
        status,
        isTraced: true,
      });
      expect(isPatched(met.now)).toBe(status === 200);
      await using guarded = await aScene();
      const { uid, resourceVersion } = guarded.child.metadata;
      const refused = await guarded.patched(id, { uid, resourceVersion });
      expect([404, 409]).toContain(refused.status);
      expect(isPatched(refused.now)).toBe(false);
    },
  );

  test("[faults/I2] deletes the custom resource before the write is forwarded", async () => {
    await using scene = await aScene();
    expect((await scene.patched("I2", {})).status).toBeLessThan(500);
    expect(await scene.owner()).toBeUndefined();
  });

  test("[faults/I3] changes the spec before the write is forwarded", async () => {
    await using scene = await aScene();
    expect((await scene.patched("I3", {})).status).toBe(200);
    expect(JSON.stringify(dataOf(await scene.owner()))).toContain('"spec":"changed"');
  });
});

describe("an operator that is killed more than once", () => {
  /** Creates three objects one after the other, from the first that is missing. */
  async function creating(namespace: string) {
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    const names = ["one", "two", "three"];
    const left = async (): Promise<readonly string[]> => {
      const found = await Promise.all(
        names.map(async (name) => await readObject(cluster.api, `${path}/${name}`)),
      );
      return names.filter((_name, at) => found[at] === undefined);
    };
    const work = async (access: Access): Promise<void> => {
      using own = new ApiClient(access);
      for (const name of await left()) await own.send({ method: "POST", path, body: aConfigMap({ name }) });
    };
    const run = {
      api: cluster.api,
      operator: cluster.admin,
      aliases: {},
      operate: async (access: Access) => {
        // A killed operator does not end well.
        void Promise.allSettled([work(access)]);
        await Promise.resolve();
      },
      stop: async () => {
        await Promise.resolve();
      },
    } as unknown as WorkloadRun;
    return await Promise.resolve({ left, run });
  }

  test.each([
    {
      name: "[faults/C5] after a commit, and before the first write of the recovery",
      disturbance: "C5",
      lives: 3,
    },
    { name: "[faults/C7] five times at the same write, then let go", disturbance: "C7", lives: 6 },
  ] as const)("$name", async ({ disturbance, lives: want }) => {
    await using namespace = await makeNamespace(cluster.api);
    const { left, run } = await creating(namespace.name);
    const point = { key: "create configmaps two", occurrence: 1 };
    await using lives = new Lives(run, { workload: "toy", disturbance, point });
    await lives.begin();
    await eventually(async () => lives.count === want && (await left()).length === 0);
    const writes = lives.trace
      .filter(({ verb }) => verb === "create")
      .map(({ name, fault }) => `${name ?? ""} ${fault ?? ""}`.trim());
    expect(writes).toEqual(
      disturbance === "C5"
        ? ["one", "two crash-after-commit", "three crash-before", "three"]
        : ["one", ...Array<string>(5).fill("two crash-before"), "two", "three"],
    );
  });
});
