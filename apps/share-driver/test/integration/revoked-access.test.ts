import { eventually, joinSharedCluster, serverError } from "@quartermaster/testkit";
import { afterAll, describe, expect, test } from "vitest";

import { limits } from "../../src/volume/node-room.ts";
import { ShareScene } from "./share-scene.ts";

const cluster = joinSharedCluster();
afterAll(() => cluster[Symbol.dispose]());

const ways = [
  {
    name: "its permission was revoked",
    take: async (scene: ShareScene) => await scene.revoke(),
    giveBack: async (scene: ShareScene) => await scene.permit(),
  },
  {
    name: "its Share was deleted",
    take: async (scene: ShareScene) => await scene.removeShare(),
    giveBack: async (scene: ShareScene) => await scene.share("content"),
  },
  {
    name: "its Share names another Secret",
    take: async (scene: ShareScene) => await scene.share("another"),
    giveBack: async (scene: ShareScene) => await scene.share("content"),
  },
];

describe("a running pod", () => {
  test.each(ways)(
    "[security/117] gets no rotated key after $name, also not from a restarted driver, and gets it once access is back",
    async ({ take, giveBack }) => {
      await using scene = await ShareScene.open(cluster);
      await scene.publish("a");
      await take(scene);
      // The server's authorizer learns of the deletion by a watch of its own.
      await eventually(async (see) => "code" in see(await scene.request("new-pod")));
      await scene.driver.unpublish("new-pod");

      const before = scene.reviews();
      await scene.write({ key: "rotated" });
      await eventually(() => scene.reviews() > before);
      await scene.request("a"); // returns after the refresh: calls for one volume run one after the other
      expect(scene.driver.read("a", "key")).toBe("first");

      await scene.driver.stop();
      const beforeRestart = scene.reviews();
      await scene.driver.start();
      await eventually(() => scene.reviews() > beforeRestart);
      await scene.request("a");
      expect(scene.driver.read("a", "key")).toBe("first");
      expect(scene.driver.records()).toHaveLength(1);

      await giveBack(scene);
      await eventually((see) => see(scene.driver.read("a", "key")) === "rotated", { withinMs: 60_000 });
    },
  );

  test("gets a rotated key once the API server answers again", async () => {
    await using scene = await ShareScene.open(cluster);
    await scene.publish("a");
    scene.proxy.inject(({ resource }) => resource === "subjectaccessreviews", serverError(500), 100);
    await scene.write({ key: "rotated" });
    await eventually(() => scene.reviews() > 1);
    expect(scene.driver.read("a", "key")).toBe("first");
    scene.proxy.heal();
    await eventually((see) => see(scene.driver.read("a", "key")) === "rotated", { withinMs: 60_000 });
  });

  test("[security/128] cannot have more volumes than its limit, and other pods still get theirs", async () => {
    await using scene = await ShareScene.open(cluster);
    const ids = Array.from({ length: 150 }, (_, index) => `v${index}`);
    await scene.publish("bystander-before");
    const ends = await Promise.all(ids.map(async (id) => await scene.request("greedy", { volume: id })));
    expect(ends.filter((end) => "response" in end)).toHaveLength(limits.pod.volumes);
    expect(ends.find((end) => !("response" in end))).toMatchObject({ code: "RESOURCE_EXHAUSTED" });
    expect(scene.driver.records()).toHaveLength(limits.pod.volumes + 1);
    await scene.publish("bystander-after");
  });
});
