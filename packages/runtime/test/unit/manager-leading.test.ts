import { describe, expect, test } from "vitest";

import type { Client } from "../../src/client/client.ts";
import type { Term } from "../../src/controller/controller-run.ts";
import type { Controller } from "../../src/controller/define-controller.ts";
import type { LeaderElector } from "../../src/leader/leader-elector.ts";
import { createManager, type Manager } from "../../src/manager/manager.ts";
import { defineKind } from "../../src/object/kind.ts";
import { VirtualSystem } from "../../src/testing/virtual-system.ts";
import type { Transport } from "../../src/transport/transport.ts";

const nowhere: Transport = {
  send: async () => await Promise.reject(new Error("nothing is sent here")),
  openStream: async () => await Promise.reject(new Error("nothing is streamed here")),
  [Symbol.asyncDispose]: async () => {
    await Promise.resolve();
  },
};

interface Scene {
  readonly manager: Manager;
  readonly system: VirtualSystem;
  readonly story: string[];
  readonly elect: (isLeading: boolean) => void;
  readonly settle: () => void;
}

/** A manager whose one controller writes down its calls; its reconcile takes `passMs`. */
function stage(passMs: number): Scene {
  const system = new VirtualSystem();
  const story: string[] = [];
  const settled = Promise.withResolvers<undefined>();
  let callbacks: { readonly onStart: () => void; readonly onStop: () => void } | undefined;
  const leaderElection: LeaderElector = {
    run: async (signal, onStart, onStop) => {
      callbacks = { onStart, onStop };
      await new Promise((resolve) => {
        signal.addEventListener("abort", resolve);
      });
      story.push("lease given back");
    },
  };
  const work = async ({ taking, acting }: Term): Promise<void> => {
    story.push("works");
    const over = new AbortController();
    taking.addEventListener("abort", () => {
      story.push("takes no more");
      system.setTimer(passMs, () => {
        over.abort();
      });
    });
    await new Promise((resolve) => {
      for (const signal of [acting, over.signal]) signal.addEventListener("abort", resolve);
    });
    story.push(acting.aborted ? "broken off" : "finished");
  };
  const controller: Controller = {
    name: "probe",
    concurrency: 1,
    launch: () => ({
      name: "probe",
      settled: async () => {
        await settled.promise;
      },
      responded: async () => {
        await settled.promise;
      },
      work,
      stop: async () => {
        await Promise.resolve();
      },
      report: () => ({ name: "probe", queued: 0, active: 0, forbidden: [] }),
    }),
  };
  const manager = createManager({ transport: nowhere, system, controllers: [controller], leaderElection });
  manager.start();
  return {
    manager,
    system,
    story,
    elect: (isLeading) => {
      if (isLeading) callbacks?.onStart();
      else callbacks?.onStop();
    },
    settle: () => {
      settled.resolve(undefined);
    },
  };
}

describe("a manager", () => {
  test("is ready as a stand-by, and works once its stores are filled and it leads", async () => {
    const { manager, system, story, elect, settle } = stage(0);
    expect(manager.health()).toMatchObject({ isReady: false, isLeading: false });
    elect(true);
    await system.settle();
    expect(story).toEqual([]);
    settle();
    await manager.ready();
    await system.settle();
    expect(story).toEqual(["works"]);
    expect(manager.health()).toMatchObject({ isReady: true, isLeading: true, isStopping: false });
  });

  test("breaks passes off at the moment it loses leadership, and works again when it has it back", async () => {
    const { manager, system, story, elect, settle } = stage(60_000);
    settle();
    elect(true);
    await system.settle();
    elect(false);
    await system.settle();
    expect(story).toEqual(["works", "takes no more", "broken off"]);
    expect(manager.health().isLeading).toBe(false);
    elect(true);
    await system.settle();
    expect(story.at(-1)).toBe("works");
  });

  test.each([
    { name: "finish when they can", passMs: 10_000, end: "finished" },
    { name: "are broken off when they cannot", passMs: 60_000, end: "broken off" },
  ])(
    "[runtime/RT-27] on stop passes $name, and the lease goes after the last write, within 30 s",
    async ({ passMs, end }) => {
      const { manager, system, story, elect, settle } = stage(passMs);
      settle();
      elect(true);
      await system.settle();
      let isStopped = false;
      const stop = async (): Promise<void> => {
        await manager.stop();
        isStopped = true;
      };
      const stopping = stop();
      await system.advance(30_000);
      expect(isStopped).toBe(true);
      await stopping;
      expect(story).toEqual(["works", "takes no more", end, "lease given back"]);
      expect(manager.health()).toMatchObject({ isReady: false, isStopping: true });
      expect(system.pendingTimers).toBeLessThanOrEqual(1);
    },
  );

  test("says so when its stores do not fill in time", async () => {
    const { manager, system } = stage(0);
    const ready = manager.ready({ timeoutMs: 1_000 }).catch((error: unknown) => error);
    await system.advance(1_000);
    expect(await ready).toMatchObject({ name: "TimeoutError" });
  });
});

test("[runtime/RT-10] no controller can write while its replica's time is over, even before it is notified", async () => {
  let budgetMs = 5_000;
  const sent: string[] = [];
  const transport: Transport = {
    ...nowhere,
    send: async ({ method }) => {
      sent.push(method);
      return await Promise.resolve({});
    },
  };
  let client: Client | undefined;
  const spy: Controller = {
    name: "spy",
    concurrency: 1,
    launch: (host) => {
      ({ client } = host);
      return {
        name: "spy",
        settled: async () => await Promise.resolve(),
        responded: async () => await Promise.resolve(),
        work: async () => await Promise.resolve(),
        report: () => ({ name: "spy", queued: 0, active: 0, forbidden: [] }),
        stop: async () => await Promise.resolve(),
      };
    },
  };
  const leaderElection: LeaderElector = {
    run: async () => await Promise.resolve(),
    writeBudgetMs: () => budgetMs,
  };
  const manager = createManager({
    transport,
    system: new VirtualSystem(),
    controllers: [spy],
    leaderElection,
  });
  manager.start();
  const configMaps = defineKind({
    group: "",
    version: "v1",
    kind: "ConfigMap",
    plural: "configmaps",
    scope: "Namespaced",
  });
  const remove = async (): Promise<void> => await client?.delete(configMaps, { name: "a", namespace: "b" });
  await remove();
  budgetMs = 0;
  await expect(remove()).rejects.toMatchObject({ class: "aborted", mayHaveActed: false });
  expect(sent).toEqual(["DELETE"]);
});
