import { eventually, type FaultProxy, serverError, startFaultProxy } from "@quartermaster/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";

import { type InjectionBench, startInjection } from "../support/replica.ts";

const generations = "subscription.openshift.io/bundle-generations";
let bench: InjectionBench;
let proxy: FaultProxy;

beforeAll(async () => {
  const settings = {};
  const nothing = async () => await Promise.resolve({});
  bench = await startInjection(settings, nothing, {
    through: async (upstream) => {
      proxy = await startFaultProxy({ upstream });
      return proxy.access;
    },
  });
  await bench.secret("s1", "a.pem");
  await bench.bundle("local", { entitlements: [{ name: "s1" }] });
  await bench.clusterBundle(bench.unique, { entitlements: [{ name: "s1", namespace: bench.namespace }] });
});
afterAll(async () => {
  await bench[Symbol.asyncDispose]();
  await proxy[Symbol.asyncDispose]();
});

async function request(annotations: Record<string, string>) {
  return await bench.pod("asked", { annotations, dryRun: true });
}

test("[subscription-injection/AC-G5] without the API server for 60 s known bundles are injected, and only what must be queried fails", async () => {
  const named = { "inject-bundle": "local" };
  await eventually(async (see) => {
    await request(named);
    return /_key_index_entries\{by="watch"\} [1-9]/.test(see(await bench.metrics()));
  });
  expect((await request(named)).status).toBe(201);
  const isRequested = proxy.trace.length;
  proxy.inject(() => true, serverError(503), Number.POSITIVE_INFINITY);
  proxy.cutConnections();
  const startMs = performance.now();
  const statuses: number[] = [];
  while (performance.now() - startMs < 60_000) {
    const { status, object } = await request(named);
    statuses.push(status);
    expect(object.metadata?.annotations?.[generations], object.message).toBe('{"bundles":{"local":1}}');
    // No one knows whether the account may use it.
    const requesting = await request({ "inject-cluster-bundle": bench.unique });
    expect(requesting.object.message).toContain("failed calling webhook");
    expect(requesting.object.message).not.toContain("denied the request");
    expect((await request({})).status).toBe(201);
  }
  expect(new Set(statuses)).toEqual(new Set([201]));
  expect(proxy.trace.length).toBeGreaterThan(isRequested);
  proxy.heal();
  await eventually(
    async (see) => see(await request({ "inject-cluster-bundle": bench.unique })).status === 403,
    {
      withinMs: 30_000,
    },
  );
});
