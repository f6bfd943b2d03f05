import { VirtualSystem } from "@quartermaster/runtime/testing";
import { describe, expect, test } from "vitest";

import { boundedEngine } from "../../../src/engine/bounded-engine.ts";
import type { EngineClient } from "../../../src/engine/engine-client.ts";
import { EngineError } from "../../../src/engine/engine-error.ts";

/** An engine that takes its time. */
function slowEngine(
  system: VirtualSystem,
  tookMs: number,
): { readonly client: EngineClient; readonly begun: string[] } {
  const begun: string[] = [];
  const call = (name: string) => async (): Promise<string> => {
    begun.push(name);
    await system.sleep(tookMs);
    return name;
  };
  const client = { settings: call("settings"), verifyRepository: call("verifyRepository") };
  return { client: client as unknown as EngineClient, begun };
}

/** What becomes of a call: its response, or the code of its failure. */
async function endOf(call: Promise<unknown>): Promise<unknown> {
  try {
    return await call;
  } catch (error) {
    return error instanceof EngineError ? [error.code, error.mayHaveActed] : error;
  }
}

describe("[security/111] a reconcile waits for its engine for a bounded time in all", () => {
  test("what answers in time is not changed", async () => {
    const system = new VirtualSystem();
    const bounded = boundedEngine(slowEngine(system, 1_000).client, { system, budgetMs: 4_000 });
    const end = endOf(bounded.settings());
    await system.advance(1_000);
    expect(await end).toBe("settings");
  });

  test("calls share the time; what comes after it fails before it is sent", async () => {
    const system = new VirtualSystem();
    const { client, begun } = slowEngine(system, 3_000);
    const bounded = boundedEngine(client, { system, budgetMs: 4_000 });
    const first = endOf(bounded.settings());
    await system.advance(3_000);
    expect(await first).toBe("settings");
    const second = endOf(bounded.settings());
    await system.advance(1_000);
    expect(await second).toEqual(["timeout", true]);
    expect(await endOf(bounded.settings())).toEqual(["timeout", false]);
    expect(begun).toHaveLength(2);
  });

  test("calls at the same time take the time once; time between calls is free", async () => {
    const system = new VirtualSystem();
    const bounded = boundedEngine(slowEngine(system, 3_000).client, { system, budgetMs: 4_000 });
    const both = [endOf(bounded.settings()), endOf(bounded.settings())];
    await system.advance(3_000);
    expect(await Promise.all(both)).toEqual(["settings", "settings"]);
    await system.advance(60_000);
    const third = endOf(bounded.settings());
    await system.advance(1_000);
    expect(await third).toEqual(["timeout", true]);
  });

  test("a write that takes longer is sent once, and a later reconcile hears how it ends; a read is queried again", async () => {
    const system = new VirtualSystem();
    const { client, begun } = slowEngine(system, 7_000);
    const reconcile = async (call: "settings" | "verifyRepository"): Promise<unknown> => {
      const bounded = boundedEngine(client, { system, budgetMs: 4_000 });
      const end = endOf(call === "settings" ? bounded.settings() : bounded.verifyRepository("backup"));
      await system.advance(4_000);
      return await end;
    };
    expect(await reconcile("verifyRepository")).toEqual(["timeout", true]);
    expect(await reconcile("verifyRepository")).toBe("verifyRepository");
    expect(begun).toEqual(["verifyRepository"]);
    await reconcile("settings");
    await reconcile("settings");
    expect(begun).toEqual(["verifyRepository", "settings", "settings"]);
  });
});
