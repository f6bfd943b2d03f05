import { apiError } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { limits } from "../../src/volume/node-room.ts";
import { VolumesBench } from "./volumes-bench.ts";

const names = ["s", "t", "u", "v"];

async function aBench(count = 1): Promise<VolumesBench> {
  const bench = new VolumesBench();
  for (const name of names.slice(0, count)) {
    bench.share(name);
    await bench.write(name, { [name]: "first" });
  }
  return bench;
}

const contentOf = (count: number, text: string): object =>
  Object.fromEntries(names.slice(0, count).map((name) => [name, text]));

describe("the steps of publishing a volume", () => {
  test("its record is there before anything is mounted", async () => {
    using bench = await aBench();
    let recorded: readonly string[] = [];
    bench.tmpfs.onMount = () => {
      recorded = bench.records();
    };
    expect(await bench.publish("a")).toBeUndefined();
    expect([recorded, bench.records()]).toEqual([["a publishing"], ["a published"]]);
  });

  test("a driver that is killed after the mount leaves what the next one takes down", async () => {
    using bench = await aBench();
    await bench.publish("whole");
    await bench.publishAndKill("half");
    expect([...bench.tmpfs.mounted]).toEqual([bench.target("whole")]);
    expect(bench.records()).toEqual(["whole published"]);
    expect(await bench.publish("half")).toBeUndefined();
    expect(bench.read("half")).toEqual({ s: "first" });
  });

  test.each([
    { name: "the mount", step: "mount" },
    { name: "what an earlier attempt left", step: "unmount" },
    { name: "a read", step: "read" },
  ] as const)("one that fails at $name leaves nothing, and takes no room", async ({ step }) => {
    using bench = await aBench();
    for (let attempt = 0; attempt <= limits.pod.volumes; attempt += 1) {
      bench.failNext(step);
      expect(await bench.publish(`a${attempt}`, ["s"], "pod")).toBeDefined();
    }
    expect([bench.tmpfs.mounted.size, bench.records(), bench.volumes.followedObjects]).toEqual([0, [], 0]);
    expect(await bench.publish("b", ["s"], "pod")).toBeUndefined();
  });

  test("a volume that cannot be unmounted keeps its record, its room and its refreshes", async () => {
    using bench = await aBench();
    await bench.publish("a");
    bench.tmpfs.failsNextUnmount = true;
    await expect(bench.volumes.unpublish("a", bench.target("a"))).rejects.toThrow("busy");
    expect(bench.records()).toEqual(["a published"]);
    await bench.write("s", { s: "second" });
    expect(bench.read("a")).toEqual({ s: "second" });
    await bench.volumes.unpublish("a", bench.target("a"));
    expect([bench.records(), bench.volumes.size, bench.volumes.followedObjects]).toEqual([[], 0, 0]);
  });
});

describe("volumes that share an object", () => {
  test.each([1, 2, 3, 4])("%i are all refreshed by one watch, until the last goes", async (count) => {
    using bench = await aBench();
    const ids = names.slice(0, count);
    for (const id of ids) await bench.publish(id);
    expect(bench.watches.get("s")?.size).toBe(1);
    for (const [at, id] of ids.entries()) {
      await bench.write("s", { s: `version ${at}` });
      for (const left of ids.slice(at)) expect(bench.read(left)).toEqual({ s: `version ${at}` });
      await bench.volumes.unpublish(id, bench.target(id));
    }
    expect([bench.volumes.followedObjects, bench.watches.get("s")?.size]).toEqual([0, 0]);
  });
});

describe("a volume of several Shares", () => {
  test.each([1, 2, 3, 4])("of %i holds the newest of each, whichever changes", async (count) => {
    using bench = await aBench(count);
    const shares = names.slice(0, count);
    await bench.publish("a", shares);
    const want: Record<string, string> = { ...contentOf(count, "first") };
    for (const name of shares.toReversed()) {
      await bench.write(name, { [name]: "second" });
      want[name] = "second";
      expect(bench.read("a")).toEqual(want);
    }
  });

  test.each([2, 3, 4])(
    "of %i loses nothing while a new driver has not seen all of its objects",
    async (count) => {
      using bench = await aBench(count);
      await bench.publish("a", names.slice(0, count));
      bench.api.beforeRead = (object) => {
        if (object === "Secret home/t") throw apiError("transient");
      };
      await bench.restart();
      await bench.write("s", { s: "second" });
      expect(bench.read("a")).toEqual(contentOf(count, "first"));
      bench.api.beforeRead = () => undefined;
      await bench.system.advance(60_000);
      expect(bench.read("a")).toEqual({ ...contentOf(count, "first"), s: "second" });
    },
  );

  test.each([2, 3, 4])(
    "of %i gives one that may no longer be used what it had, and the others the newest",
    async (count) => {
      using bench = await aBench(count);
      await bench.publish("a", names.slice(0, count));
      bench.denied.add("t");
      for (const name of ["t", "s"]) await bench.write(name, { [name]: "second" });
      expect(bench.read("a")).toEqual({ ...contentOf(count, "first"), s: "second" });
    },
  );
});

describe("a refresh that was refused", () => {
  test.each([
    { name: "because the server did not answer", why: "noAnswer" },
    { name: "because the permission no longer existed", why: "noPermission" },
  ] as const)("$name comes on its own once that is over, without another change", async ({ why }) => {
    using bench = await aBench();
    await bench.publish("a");
    const end = bench.refuse(why);
    await bench.write("s", { s: "second" });
    expect(bench.read("a")).toEqual({ s: "first" });
    end();
    await bench.system.advance(4_999);
    expect(bench.read("a")).toEqual({ s: "first" });
    await bench.system.advance(1_500);
    expect(bench.read("a")).toEqual({ s: "second" });
  });

  test("for one of two Shares comes once that may be used again, while the other continues", async () => {
    using bench = await aBench(2);
    await bench.publish("a", ["s", "t"]);
    bench.denied.add("t");
    // Both change while no driver runs: the next one sees them at the same time.
    for (const name of ["s", "t"]) await bench.write(name, { [name]: "second" }, { isReported: false });
    await bench.restart();
    expect(bench.read("a")).toEqual({ s: "second", t: "first" });
    bench.denied.clear();
    await bench.system.advance(60_000);
    expect(bench.read("a")).toEqual({ s: "second", t: "second" });
  });

  test("is tried less and less often, at least every ten minutes and a quarter", async () => {
    using bench = await aBench();
    await bench.publish("a");
    bench.denied.add("s");
    await bench.write("s", { s: "second" });
    await bench.system.advance(3_600_000);
    expect(bench.refreshed.length).toBeGreaterThan(9);
    expect(bench.refreshed.length).toBeLessThan(16);
    bench.denied.clear();
    await bench.system.advance(750_000);
    expect(bench.read("a")).toEqual({ s: "second" });
  });
});

describe("versions of an object", () => {
  test.each([
    { name: "9 to 10", from: "9", to: "10", want: "second" },
    { name: "99 to 100", from: "99", to: "100", want: "second" },
    { name: "10 to 9, which came late", from: "10", to: "9", want: "first" },
    { name: "the same again", from: "10", to: "10", want: "first" },
  ])("from $name", async ({ from, to, want }) => {
    using bench = await aBench();
    await bench.publish("a");
    await bench.write("s", { s: "first" }, { version: String(Number(from) * 1_000) });
    await bench.write("s", { s: "second" }, { version: String(Number(to) * 1_000) });
    expect(bench.read("a")).toEqual({ s: want });
  });

  test("one that another volume's watch reported between the read of a volume and its mount is made up for", async () => {
    using bench = await aBench();
    await bench.publish("first");
    bench.tmpfs.onMount = async () => {
      bench.tmpfs.onMount = () => undefined;
      await bench.write("s", { s: "meanwhile" });
    };
    await bench.publish("a");
    await bench.system.advance(0);
    expect(bench.read("a")).toEqual({ s: "meanwhile" });
  });

  test("one that a silent watch never reported is read once it has been silent for 85 seconds", async () => {
    using bench = await aBench();
    await bench.publish("a");
    await bench.write("s", { s: "unreported" }, { isReported: false });
    await bench.system.advance(84_000);
    expect(bench.read("a")).toEqual({ s: "first" });
    await bench.system.advance(2_000);
    expect(bench.read("a")).toEqual({ s: "unreported" });
  });
});

describe("objects of one name in two namespaces", () => {
  test("are two: each is followed on its own", async () => {
    using bench = await aBench();
    bench.share("o", { secret: "s", namespace: "other" });
    await bench.write("s", { o: "first" }, { namespace: "other" });
    await bench.publish("a", ["s", "o"]);
    expect(bench.read("a")).toEqual({ s: "first", o: "first" });
    await bench.write("s", { o: "second" }, { namespace: "other" });
    expect(bench.read("a")).toEqual({ s: "first", o: "second" });
    expect(bench.volumes.followedObjects).toBe(2);
  });
});

describe("the record of a refresh", () => {
  test("names the files of both contents, and the old version, before they change", async () => {
    using bench = await aBench();
    await bench.publish("a");
    const [before] = bench.recordedSources("a");
    let between: ReturnType<typeof bench.recordedSources> = [];
    bench.system.onUuid = () => {
      between = bench.recordedSources("a");
    };
    await bench.write("s", { t: "second" });
    expect(between).toEqual([{ ...before, keys: ["s", "t"] }]);
    const [after] = bench.recordedSources("a");
    expect(after?.keys).toEqual(["t"]);
    expect(after?.version).not.toBe(before?.version);
    expect(bench.read("a")).toEqual({ t: "second" });
  });
});

test("[subscription-injection/AC-H8] 200 pods that come and go, one after the other and together, leave nothing", async () => {
  using bench = await aBench();
  const ids = Array.from({ length: 200 }, (_, at) => `pod-${at}`);
  for (const id of ids) {
    expect(await bench.publish(id)).toBeUndefined();
    await bench.volumes.unpublish(id, bench.target(id));
  }
  await Promise.all(ids.map(async (id) => await bench.publish(id)));
  expect([bench.tmpfs.mounted.size, bench.records().length, bench.volumes.followedObjects]).toEqual([
    200, 200, 1,
  ]);
  await Promise.all(ids.map(async (id) => await bench.volumes.unpublish(id, bench.target(id))));
  await bench.system.advance(0);
  expect([bench.tmpfs.mounted.size, bench.records(), bench.volumes.size]).toEqual([0, [], 0]);
  expect([bench.volumes.followedObjects, bench.watches.get("s")?.size]).toEqual([0, 0]);
});
