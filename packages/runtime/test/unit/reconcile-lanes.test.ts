import { describe, expect, test } from "vitest";

import { ApiError, ExternalError } from "../../src/errors.ts";
import { silentLog } from "../../src/reconcile/log.ts";
import { held, type Lane, type Outcome, settled, stalled, waiting } from "../../src/reconcile/outcome.ts";
import { mergeLanes, performLanes } from "../../src/reconcile/perform-lanes.ts";

const why = (reason: string) => ({ reason, message: `${reason}.` });

describe("mergeLanes", () => {
  const table: readonly { name: string; given: readonly Outcome[]; want: Outcome }[] = [
    { name: "nothing is settled", given: [], want: settled() },
    { name: "all settled is settled", given: [settled(), settled()], want: settled() },
    {
      name: "the earliest recheck counts",
      given: [settled(5_000), settled(), settled(3_000)],
      want: settled(3_000),
    },
    {
      name: "stalled is more serious than waiting, and the next look is the earliest",
      given: [waiting(why("Slow"), 1_000), stalled(why("Bad"))],
      want: stalled(why("Bad"), 1_000),
    },
    {
      name: "the first of two waiting lanes is shown",
      given: [settled(), waiting(why("A"), 2_000), waiting(why("B"), 1_000)],
      want: waiting(why("A"), 1_000),
    },
    {
      name: "held is more serious than settled",
      given: [settled(), held(why("Off"))],
      want: held(why("Off")),
    },
    {
      name: "waiting is more serious than held",
      given: [held(why("Off")), waiting(why("Slow"), 1_000)],
      want: waiting(why("Slow"), 1_000),
    },
    {
      name: "a held lane does not lose another's timer",
      given: [held(why("Off")), settled(4_000)],
      want: waiting(why("Off"), 4_000),
    },
  ];
  test.each(table)("$name", ({ given, want }) => {
    expect(mergeLanes(given.map((outcome) => ({ outcome }))).outcome).toEqual(want);
  });

  test("joins the fields and conditions of all lanes", () => {
    const condition = { type: "Secured", status: "True", reason: "Ok", message: "" } as const;
    expect(
      mergeLanes([
        { outcome: settled(), status: { a: 1 } },
        { outcome: settled(), status: { b: 2 }, conditions: [condition] },
      ]),
    ).toEqual({ outcome: settled(), status: { a: 1, b: 2 }, conditions: [condition] });
  });

  test("refuses two lanes that write the same field", () => {
    const lane = { outcome: settled(), status: { a: 1 } };
    expect(() => mergeLanes([lane, lane])).toThrow("two lanes write a");
  });
});

describe("performLanes", () => {
  const done: string[] = [];
  const perform = async (actions: readonly (string | Error)[]): Promise<void> => {
    for (const action of actions) {
      await Promise.resolve();
      if (action instanceof Error) throw action;
      done.push(action);
    }
  };
  const lane = (
    name: string,
    actions: readonly (string | Error)[],
    outcome = settled(),
  ): Lane<string | Error> => ({
    name,
    actions,
    outcome,
    status: { [name]: "written" },
  });
  const conflict = new ApiError("stale", { class: "conflict", mayHaveActed: false });

  test("a lane that fails stops no other, and its status is left out", async () => {
    const engine = new ExternalError("The engine refused.", { class: "refused", reason: "EngineRefused" });
    const end = await performLanes(
      { outcome: settled() },
      [lane("a", [engine, "never"]), lane("b", ["b1", "b2"])],
      { log: silentLog, perform },
    );
    expect(done).toEqual(["b1", "b2"]);
    expect(end).toEqual({
      outcome: waiting({ reason: "EngineRefused", message: "The engine refused." }, 0),
      status: { b: "written" },
      failure: engine,
    });
  });

  test("a quiet failure beside settled lanes is thrown: a repeated write costs no Ready condition", async () => {
    const end = performLanes({ outcome: settled() }, [lane("a", [conflict]), lane("b", [])], {
      log: silentLog,
      perform,
    });
    await expect(end).rejects.toBe(conflict);
  });

  test("a quiet failure beside a lane with news reports the news and is retried", async () => {
    const news = waiting(why("Growing"), 1_000);
    const end = await performLanes({ outcome: settled() }, [lane("a", [conflict]), lane("b", [], news)], {
      log: silentLog,
      perform,
    });
    expect(end).toEqual({ outcome: news, status: { b: "written" }, failure: conflict });
  });

  test("a record that was intended is not written if the lane fails: what stood there before is", async () => {
    const record = { ...lane("a", [conflict]), statusIfFailed: { a: "as before" } };
    const news = waiting(why("Growing"), 1_000);
    const end = await performLanes({ outcome: settled() }, [record, lane("b", [], news)], {
      log: silentLog,
      perform,
    });
    expect(end.status).toEqual({ a: "as before", b: "written" });
    const fine = await performLanes({ outcome: settled() }, [{ ...record, actions: [] }], {
      log: silentLog,
      perform,
    });
    expect(fine.status).toEqual({ a: "written" });
  });

  test("what only a change of the spec can mend is shown and not retried", async () => {
    const invalid = new ExternalError("No such analyzer.", { class: "invalid", reason: "BadAnalyzer" });
    const end = await performLanes({ outcome: settled() }, [lane("a", [invalid])], {
      log: silentLog,
      perform,
    });
    expect(end).toEqual({ outcome: stalled({ reason: "BadAnalyzer", message: "No such analyzer." }) });
  });
});
