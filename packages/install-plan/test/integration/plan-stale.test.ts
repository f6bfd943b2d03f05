import { installPlan, type InstallPlan } from "@quartermaster/api";
import type { Client } from "@quartermaster/runtime";
import {
  type Access,
  aConfigMap,
  closeAfterInitial,
  connect,
  type Connection,
  eventually,
  type FaultProxy,
  type LocalCluster,
  type RequestMatch,
  type SeenRequest,
  startFaultProxy,
  startLocalCluster,
} from "@quartermaster/testkit";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";

import { configMaps } from "../support/kinds.ts";
import { configMap } from "../support/manifests.ts";
import { makeAdministrator, makeInstaller, operateThrough } from "../support/own-cluster.ts";
import { aPlan } from "../support/plans.ts";

const namespace = "default";
const always = Number.POSITIVE_INFINITY;

let cluster: LocalCluster;
let admin: Connection;
let behind: Connection;
let proxy: FaultProxy;
let throughProxy: Access;

beforeAll(async () => {
  cluster = await startLocalCluster({ kwokNodes: 0, staleApiServer: true });
  const { server, caPem, token = "" } = cluster.admin;
  const staleServer = stale().apiServer.url;
  admin = connect({ server, caPem, token });
  behind = connect({ server: staleServer, caPem, token });
  await makeInstaller(admin);
  await makeAdministrator(admin);
  // A server reads a custom kind for the first time when another client requests it.
  for (const plural of ["installplans", "resourcemanifests"])
    await eventually(async () => await atHand(plural));
  proxy = await startFaultProxy({ upstream: cluster.admin, staleServer });
  throughProxy = { ...proxy.access, token };
});
afterEach(() => {
  proxy.heal();
  stale().relay.resume();
});
afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  await behind[Symbol.asyncDispose]();
  await admin[Symbol.asyncDispose]();
  await cluster.stop();
});

function stale(): NonNullable<LocalCluster["stale"]> {
  if (cluster.stale === undefined) throw new Error("the second API server is missing");
  return cluster.stale;
}

const isRead: RequestMatch = ({ verb }) => ["get", "list", "watch"].includes(verb);
/** From what an operator holds in memory. A read of one object waits for etcd there. */
const isPicture: RequestMatch = ({ verb }) => verb === "list" || verb === "watch";
const isOf =
  (...plurals: readonly string[]): RequestMatch =>
  ({ resource }) =>
    plurals.includes(resource);

async function create(name: string, objects: readonly string[]): Promise<InstallPlan> {
  const { apiVersion, kind } = aPlan(name);
  const stages = [{ name: "s", resources: objects.map((each) => configMap(each)) }];
  const spec = { serviceAccountName: "installer", stages };
  return await admin.client.create(installPlan.kind, {
    apiVersion,
    kind,
    metadata: { name, namespace },
    spec,
  } as never);
}

async function untilInstalled(name: string): Promise<void> {
  await eventually(async (see) => {
    const { status, metadata } = await admin.client.get(installPlan.kind, { namespace, name });
    see(status?.message);
    return status?.phase === "Installed" && status.observedGeneration === metadata.generation;
  });
}

async function untilDeleted(name: string): Promise<void> {
  await eventually(
    async () => (await admin.client.find(installPlan.kind, { namespace, name })) === undefined,
  );
}

async function uids(names: readonly string[]): Promise<readonly (string | undefined)[]> {
  return await Promise.all(
    names.map(async (name) => (await admin.client.find(configMaps, { namespace, name }))?.metadata.uid),
  );
}

/** Text of what the second server has at hand, however old that is. */
async function atHand(plural: string, client: Client = behind.client): Promise<string> {
  const root = plural === "configmaps" ? "/api/v1" : "/apis/install.quartermaster.dev/v1alpha1";
  const path = `${root}/namespaces/${namespace}/${plural}?resourceVersion=0`;
  return JSON.stringify(await client.raw({ method: "GET", path }));
}

const isDelete = ({ verb, isDryRun }: SeenRequest): boolean => verb.startsWith("delete") && !isDryRun;

/** Deletes that the operator sent through the proxy, with what came of them. */
function deletes(): readonly (number | undefined)[] {
  return proxy.trace.filter(isDelete).map(({ status }) => status);
}

/** No request for a while: the operator has done what it does on what it sees, or waits. */
async function untilQuiet(): Promise<void> {
  let [count, sinceMs] = [-1, 0];
  await eventually(() => {
    const nowMs = performance.now();
    if (proxy.trace.length !== count) [count, sinceMs] = [proxy.trace.length, nowMs];
    return nowMs - sinceMs > 2_500;
  });
}

/** A plan that is being deleted in the view of the second server, which stops there; then a new one has its name and its objects. */
async function deletedInThePast(name: string, objects: readonly string[]): Promise<readonly unknown[]> {
  const direct = { ...throughProxy, server: cluster.admin.server, caPem: cluster.admin.caPem };
  await create(name, objects);
  {
    await using _ = await operateThrough(direct);
    await untilInstalled(name);
  }
  await admin.client.delete(installPlan.kind, { namespace, name });
  await eventually(async () => (await atHand("installplans")).includes("deletionTimestamp"));
  stale().relay.pause();
  await using _ = await operateThrough(direct);
  await untilDeleted(name);
  await create(name, objects);
  await untilInstalled(name);
  return await uids(objects);
}

describe("a plan whose operator reads from an API server that is behind", () => {
  test("[faults/S1,7] restarted against the past, in which the plan is being deleted: the new plan's objects stay", async () => {
    const objects = ["x1", "y1"];
    const before = await deletedInThePast("p1", objects);
    proxy.inject(isPicture, { kind: "answer-stale", isCached: true }, always);
    await using _ = await operateThrough(throughProxy, { isAwaited: false });
    await eventually((see) => {
      see(proxy.trace.map(({ verb, path, status }) => `${verb} ${path} ${status}`));
      return deletes().length > 0;
    });
    await untilQuiet();
    expect(await uids(objects)).toEqual(before);
    expect(deletes().filter((status = 500) => status < 400)).toEqual([]);
    // What is known of the old plan, e.g. that its jobs have run, must not be told of the new one.
    const statuses = proxy.trace.filter(({ subresource }) => subresource === "status");
    expect(statuses.map(({ status }) => status)).not.toContain(200);
    stale().relay.resume();
    await eventually(async () => !(await atHand("installplans")).includes("deletionTimestamp"));
    await untilInstalled("p1");
    await untilQuiet();
    expect(await uids(objects)).toEqual(before);
  });

  test("[faults/S2,7] lists the past and watches the present: nothing is deleted, and what was missed is seen", async () => {
    const objects = ["x2", "y2"];
    const before = await deletedInThePast("p2", objects);
    const known = deletes().length;
    const isInitial: RequestMatch = (request) =>
      isRead(request) && request.path.includes("sendInitialEvents=true");
    proxy.inject(isInitial, { kind: "answer-stale", isCached: true, transform: closeAfterInitial() }, always);
    await using _ = await operateThrough(throughProxy);
    await admin.client.patch(
      installPlan.kind,
      { namespace, name: "p2" },
      {
        patch: { kind: "merge", body: { metadata: { annotations: { seen: "now" } } } },
      },
    );
    await untilQuiet();
    await untilInstalled("p2");
    expect(await uids(objects)).toEqual(before);
    expect(
      deletes()
        .slice(known)
        .filter((status = 500) => status < 400),
    ).toEqual([]);
  });

  test("[faults/S3,7] reads objects from the past right before it deletes them: another client's stay", async () => {
    const objects = ["x3", "y3"];
    proxy.inject(
      (request) => isRead(request) && isOf("configmaps")(request),
      { kind: "answer-stale", isCached: true },
      always,
    );
    await using _ = await operateThrough(throughProxy);
    await create("p3", objects);
    await untilInstalled("p3");
    await eventually(async () => (await atHand("configmaps")).includes('"name":"y3"'));
    stale().relay.pause();
    await admin.client.delete(configMaps, { namespace, name: "x3" });
    const foreign = aConfigMap({ name: "x3", namespace, data: { whose: "theirs" } });
    const { metadata } = await admin.client.create(configMaps, foreign);
    const known = deletes().length;
    await admin.client.delete(installPlan.kind, { namespace, name: "p3" });
    await eventually((see) => see(deletes().slice(known)).length >= 2);
    await untilQuiet();
    expect(await uids(["x3"])).toEqual([metadata.uid]);
    stale().relay.resume();
    await untilDeleted("p3");
    expect(await uids(objects)).toEqual([metadata.uid, undefined]);
  });
});
