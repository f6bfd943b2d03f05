import {
  type AuditPosition,
  eventually,
  joinSharedCluster,
  makeNamespace,
  type SharedCluster,
  startFaultProxy,
} from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { launch, leads, termsOf, type Write, writesTo } from "../support/candidates.ts";
import { startCuttingProxy } from "../support/cutting-proxy.ts";
import { saveAccess } from "../support/operator-replica.ts";
import { makeTempDirectory } from "../support/temp-directory.ts";

const leaseMs = 15_000;

/** Writes of both once the second has made some. */
async function writesOfBoth(
  cluster: SharedCluster,
  begin: AuditPosition,
  namespace: string,
): Promise<readonly Write[]> {
  return await eventually(async (see) => {
    const writes = await writesTo(cluster, begin, namespace);
    see(termsOf(writes));
    return writes.filter(({ identity }) => identity === "second").length > 20 ? writes : undefined;
  });
}

function lastOfFirst(writes: readonly Write[]): number {
  return Math.max(...writes.filter(({ identity }) => identity === "first").map(({ atMs }) => atMs));
}

// Each waits for a lease to run out: side by side they take no longer than one.
describe.concurrent("a leader", () => {
  test("[faults/8] that is cut off from the API server stops in time, and the other takes over within 20 s", async () => {
    using cluster = joinSharedCluster();
    const begin = await cluster.audit.position();
    await using namespace = await makeNamespace(cluster.api, "election");
    await using directory = await makeTempDirectory();
    await using proxy = await startCuttingProxy(cluster.admin.server);
    const kubeconfigPath = await saveAccess(
      { ...cluster.admin, server: proxy.url },
      `${directory.path}/config`,
    );
    await using first = launch({ kubeconfigPath }, namespace.name, { identity: "first" });
    await leads(first, 90_000);
    await using second = launch(cluster, namespace.name, { identity: "second" });
    await eventually(async () => (await writesTo(cluster, begin, namespace.name)).length > 20);
    // Nothing is answered any more and nothing says so, as when packets are dropped.
    proxy.refuse(true);
    proxy.silence();
    const cutMs = Date.now();
    const ledMs = await leads(second, 40_000);
    expect(ledMs - cutMs).toBeLessThanOrEqual(20_000);
    const stopped = first.output.find(({ what }) => what === "stop");
    expect(stopped?.atMs).toBeLessThan(ledMs);
    expect(stopped?.atMs).toBeLessThan(cutMs + leaseMs);
    expect(termsOf(await writesOfBoth(cluster, begin, namespace.name))).toEqual(["first", "second"]);
  });

  test("[faults/14] that is frozen and resumed makes no write in its old term", async () => {
    using cluster = joinSharedCluster();
    const begin = await cluster.audit.position();
    await using namespace = await makeNamespace(cluster.api, "election");
    await using first = launch(cluster, namespace.name, { identity: "first" });
    await leads(first, 90_000);
    await using second = launch(cluster, namespace.name, { identity: "second" });
    await eventually(async () => (await writesTo(cluster, begin, namespace.name)).length > 20);
    first.process.kill("SIGSTOP");
    await leads(second, 40_000);
    const resumedMs = Date.now();
    first.process.kill("SIGCONT");
    await eventually(() => first.output.some(({ what }) => what === "stop"));
    const writes = await writesOfBoth(cluster, begin, namespace.name);
    expect(termsOf(writes)).toEqual(["first", "second"]);
    expect(lastOfFirst(writes)).toBeLessThan(resumedMs);
  });

  test.each([5, -5])(
    "[faults/16,I7,O13] that cannot renew but can write, with a clock that is %i minutes ahead, stops before the other begins",
    async (minutes) => {
      using cluster = joinSharedCluster();
      const begin = await cluster.audit.position();
      await using namespace = await makeNamespace(cluster.api, "election");
      await using directory = await makeTempDirectory();
      await using proxy = await startFaultProxy({ upstream: cluster.admin });
      const kubeconfigPath = await saveAccess(
        { ...cluster.admin, ...proxy.access },
        `${directory.path}/config`,
      );
      const clockAheadMs = minutes * 60_000;
      await using first = launch({ kubeconfigPath }, namespace.name, { identity: "first", clockAheadMs });
      await leads(first, 90_000);
      await using second = launch(cluster, namespace.name, { identity: "second" });
      await eventually(async () => (await writesTo(cluster, begin, namespace.name)).length > 20);
      const isRenewal = ({ resource, verb }: { readonly resource: string; readonly verb: string }): boolean =>
        resource === "leases" && verb === "update";
      const { struck } = proxy.inject(isRenewal, { kind: "hold-request" }, Number.POSITIVE_INFINITY);
      await struck;
      const heldMs = Date.now();
      await leads(second, 40_000);
      const writes = await writesOfBoth(cluster, begin, namespace.name);
      expect(termsOf(writes)).toEqual(["first", "second"]);
      // It believed to lead until then: the renewal alone was held.
      expect(lastOfFirst(writes)).toBeGreaterThan(heldMs);
      expect(lastOfFirst(writes)).toBeLessThan(heldMs + leaseMs);
      expect(first.output.map(({ what }) => what)).toEqual(["start", "stop"]);
    },
  );
});
