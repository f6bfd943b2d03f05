import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { eventually, joinSharedCluster } from "@quartermaster/testkit";
import { afterAll, describe, expect, test } from "vitest";

import { ShareScene } from "./share-scene.ts";

const cluster = joinSharedCluster();
afterAll(() => cluster[Symbol.dispose]());

describe("the volumes of a node", () => {
  test("[subscription-injection/AC-H11] are made and refreshed with get and watch on one Secret", async () => {
    const position = await cluster.audit.position();
    await using scene = await ShareScene.open(cluster);
    await scene.publish("a");
    expect(scene.driver.read("a", "key")).toBe("first");
    await scene.write({ key: "second" });
    await scene.untilRead("a", "second");
    const requested = await cluster.audit.since(position, { user: scene.user });
    const kinds = new Set(
      requested.map(({ verb, resource, name }) => `${verb} ${resource} ${name ?? ""}`.trim()),
    );
    expect(kinds).toEqual(
      new Set([
        "create subjectaccessreviews",
        `get shares ${scene.namespace}`,
        "get secrets content",
        "watch secrets content",
      ]),
    );
    expect(requested.filter(({ code }) => code === 403)).toEqual([]);
  });

  test("are published once, however often kubelet asks, and also after the permission no longer exists", async () => {
    await using scene = await ShareScene.open(cluster);
    await scene.publish("a");
    await scene.forbid();
    await eventually(async (see) => "code" in see(await scene.request("b")));
    expect(await scene.request("a")).toEqual({ response: {} });
    expect(await scene.request("b")).toMatchObject({ code: "PERMISSION_DENIED" });
    expect(scene.driver.records()).toHaveLength(1);
    const other = await scene.driver.publish("a", scene.namespace, { share: "another" });
    expect(other).toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  test("[subscription-injection/AC-H8] are given back with their record, however often kubelet asks", async () => {
    await using scene = await ShareScene.open(cluster);
    await scene.publish("a");
    for (let round = 0; round < 2; round += 1)
      expect(await scene.driver.unpublish("a")).toEqual({ response: {} });
    expect(scene.driver.tmpfs.mounted.size).toBe(0);
    expect(scene.driver.records()).toEqual([]);
  });

  test("leave neither mount nor record when publishing fails half-way, and succeed the next time", async () => {
    await using scene = await ShareScene.open(cluster);
    await scene.publish("first");
    scene.driver.tmpfs.failsNext = true;
    expect(await scene.request("a")).toMatchObject({ code: "INTERNAL" });
    expect(scene.driver.tmpfs.isMounted(scene.driver.target("a"))).toBe(false);
    expect(scene.driver.records()).toHaveLength(1);
    expect(await scene.request("a")).toEqual({ response: {} });
  });

  test("keep the content of a Secret that is deleted, and follow one that takes its place", async () => {
    await using scene = await ShareScene.open(cluster);
    await scene.publish("a");
    await scene.removeSecret();
    expect(await eventually(async (see) => "code" in see(await scene.request("b")))).toBe(true);
    expect(scene.driver.read("a", "key")).toBe("first");
    await scene.write({ key: "successor" });
    await scene.untilRead("a", "successor");
  });

  test("[subscription-injection/AC-H7] are recovered by a new driver, with what has changed meanwhile", async () => {
    await using scene = await ShareScene.open(cluster);
    await scene.publish("a");
    await scene.driver.stop();
    expect(scene.driver.read("a", "key")).toBe("first");
    await scene.write({ key: "meanwhile" });
    await scene.driver.start();
    await scene.untilRead("a", "meanwhile");
    await scene.write({ key: "later" });
    await scene.untilRead("a", "later");
  });

  test("that were cut off, or went with the machine, are not recovered, and unreadable records do no harm", async () => {
    await using scene = await ShareScene.open(cluster);
    await scene.publish("whole");
    await scene.publish("rebooted");
    await scene.publish("cut-off");
    await scene.driver.stop();
    scene.driver.tmpfs.mounted.delete(scene.driver.target("rebooted"));
    scene.driver.cutOffWhilePublishing("cut-off");
    writeFileSync(join(scene.driver.recordDirectory(), "broken.json"), "{");
    await scene.driver.start();
    expect(scene.driver.records()).toHaveLength(1);
    expect([...scene.driver.tmpfs.mounted]).toEqual([scene.driver.target("whole")]);
    await scene.publish("rebooted");
    expect(scene.driver.read("rebooted", "key")).toBe("first");
  });
});
