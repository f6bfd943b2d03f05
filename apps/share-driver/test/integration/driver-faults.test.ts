import {
  eventually,
  expireAfter,
  joinSharedCluster,
  type RequestMatch,
  serverError,
  splitEvery,
} from "@quartermaster/testkit";
import { afterAll, describe, expect, test } from "vitest";

import { ShareScene } from "./share-scene.ts";

const cluster = joinSharedCluster();
afterAll(() => cluster[Symbol.dispose]());

const watchOfSecret: RequestMatch = ({ verb, resource }) => verb === "watch" && resource === "secrets";

describe("the driver on a bad network", () => {
  test("refuses a volume while the API server gives no response, and leaves no mount", async () => {
    await using scene = await ShareScene.open(cluster);
    await scene.publish("warm");
    scene.proxy.inject(({ resource }) => resource === "subjectaccessreviews", serverError(500), 100);
    expect(await scene.request("a")).toMatchObject({ code: "UNAVAILABLE" });
    expect(scene.driver.tmpfs.mounted.size).toBe(1);
    expect(scene.driver.records()).toHaveLength(1);
    scene.proxy.heal();
    await scene.publish("a");
  });

  test("continues refreshing after its connections were cut", async () => {
    await using scene = await ShareScene.open(cluster);
    await scene.publish("a");
    for (const value of ["second", "third"]) {
      scene.proxy.cutConnections();
      await scene.write({ key: value });
      await scene.untilRead("a", value);
      expect(scene.driver.read("a", "key")).toBe(value);
    }
  });

  test("continues refreshing after the server has forgotten its version, and with events in pieces", async () => {
    await using scene = await ShareScene.open(cluster);
    scene.proxy.inject(watchOfSecret, { kind: "watch", transform: expireAfter(1) });
    scene.proxy.inject(watchOfSecret, { kind: "watch", transform: splitEvery(7) }, 100);
    await scene.publish("a");
    for (const value of ["second", "third", "ümläut"]) {
      await scene.write({ key: value });
      await scene.untilRead("a", value);
      expect(scene.driver.read("a", "key")).toBe(value);
    }
  });

  test("sends one request for fifty volumes that start together", async () => {
    await using scene = await ShareScene.open(cluster);
    await scene.publish("warm");
    const before = scene.proxy.trace.length;
    const uids = Array.from({ length: 50 }, (_, index) => `crowd-${index}`);
    const ends = await Promise.all(uids.map(async (uid) => await scene.request(uid)));
    expect(ends.filter((end) => !("response" in end))).toEqual([]);
    expect(uids.map((uid) => scene.driver.read(uid, "key"))).toEqual(uids.map(() => "first"));
    expect(scene.proxy.trace.length - before).toBeLessThan(50);
  });

  test("has one watch for all volumes of an object, and none after the last of them", async () => {
    await using scene = await ShareScene.open(cluster);
    const watches = (): number => scene.proxy.trace.filter(({ verb }) => verb === "watch").length;
    for (const uid of ["a", "b", "c"]) await scene.publish(uid);
    await eventually(() => watches() === 1);
    for (const uid of ["a", "b", "c"]) await scene.driver.unpublish(uid);
    await scene.publish("d");
    await eventually((see) => see(watches()) === 2);
  });
});
