import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { share } from "@quartermaster/api";
import { eventually, joinSharedCluster, makeIdentity, makeNamespace } from "@quartermaster/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { DriverProcess } from "./driver-process.ts";

const cluster = joinSharedCluster();
afterAll(() => cluster[Symbol.dispose]());

const group = "rbac.authorization.k8s.io";
const shares = `/apis/${share.kind.group}/${share.kind.version}/shares`;

beforeAll(async () => {
  const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/shares.${share.kind.group}`;
  await cluster.api.apply(path, share.definition());
});

/** A namespace with a driver that may read its Secret `content`, and a Share of that Secret which its accounts may use. */
class Scene implements AsyncDisposable {
  readonly namespace: string;
  readonly driver: DriverProcess;
  readonly user: string;
  /** Also the name of the Share. */
  readonly #dispose: () => Promise<void>;

  private constructor(
    namespace: string,
    user: string,
    parts: { readonly driver: DriverProcess; readonly dispose: () => Promise<void> },
  ) {
    this.namespace = namespace;
    this.user = user;
    this.driver = parts.driver;
    this.#dispose = parts.dispose;
  }

  static async open(): Promise<Scene> {
    const namespace = await makeNamespace(cluster.api, "share");
    const identity = await makeIdentity(cluster.api, cluster.admin, {
      namespace: namespace.name,
      rules: [
        { apiGroups: [""], resources: ["secrets"], verbs: ["get", "watch"], resourceNames: ["content"] },
      ],
      clusterRules: [
        { apiGroups: [share.kind.group], resources: ["shares"], verbs: ["get"] },
        { apiGroups: ["authorization.k8s.io"], resources: ["subjectaccessreviews"], verbs: ["create"] },
      ],
    });
    const driver = new DriverProcess(identity);
    const scene = new Scene(namespace.name, identity.user, {
      driver,
      dispose: async () => {
        await driver[Symbol.asyncDispose]();
        await namespace[Symbol.asyncDispose]();
      },
    });
    await scene.write({ key: "first" });
    await scene.#share();
    await scene.permit();
    await driver.start();
    return scene;
  }

  async write(data: Readonly<Record<string, string>>): Promise<void> {
    const path = `/api/v1/namespaces/${this.namespace}/secrets/content`;
    const encoded = Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString("base64")]);
    const metadata = { name: "content", namespace: this.namespace };
    const secret = {
      apiVersion: "v1",
      kind: "Secret",
      metadata,
      data: Object.fromEntries(encoded) as unknown,
    };
    await cluster.api.apply(path, secret);
  }

  async removeSecret(): Promise<void> {
    await cluster.api.send({
      method: "DELETE",
      path: `/api/v1/namespaces/${this.namespace}/secrets/content`,
    });
  }

  async #share(): Promise<void> {
    const apiVersion = `${share.kind.group}/${share.kind.version}`;
    const backingResource = { kind: "Secret", name: "content", namespace: this.namespace };
    const object = {
      apiVersion,
      kind: "Share",
      metadata: { name: this.namespace },
      spec: { backingResource },
    };
    await eventually(async () => {
      await cluster.api.apply(`${shares}/${this.namespace}`, object);
      return true;
    });
  }

  async permit(): Promise<void> {
    const path = `/apis/${group}/v1/namespaces/${this.namespace}`;
    const metadata = { name: "use", namespace: this.namespace };
    const rules = [
      {
        apiGroups: [share.kind.group],
        resources: ["shares"],
        verbs: ["use"],
        resourceNames: [this.namespace],
      },
    ];
    await cluster.api.apply(`${path}/roles/use`, {
      apiVersion: `${group}/v1`,
      kind: "Role",
      metadata,
      rules,
    });
    await cluster.api.apply(`${path}/rolebindings/use`, {
      apiVersion: `${group}/v1`,
      kind: "RoleBinding",
      metadata,
      roleRef: { apiGroup: group, kind: "Role", name: "use" },
      subjects: [{ kind: "ServiceAccount", name: "default", namespace: this.namespace }],
    });
  }

  async forbid(): Promise<void> {
    const path = `/apis/${group}/v1/namespaces/${this.namespace}/rolebindings/use`;
    await cluster.api.send({ method: "DELETE", path });
    await cluster.api.send({ method: "DELETE", path: `${shares}/${this.namespace}` });
  }

  /** Publishes the volume of a pod. Permissions that were just given take a moment. */
  async publish(uid: string): Promise<void> {
    await eventually(async (see) => "answer" in see(await this.ask(uid)));
  }

  async ask(uid: string): Promise<object> {
    return await this.driver.publish(uid, this.namespace, { share: this.namespace });
  }

  async untilRead(uid: string, value: string): Promise<void> {
    await eventually((see) => see(this.driver.read(uid, "key")) === value, { withinMs: 10_000 });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#dispose();
  }
}

describe("the volumes of a node", () => {
  test("[subscription-injection/AC-H11] are made and refreshed with get and watch on one Secret", async () => {
    const mark = await cluster.audit.mark();
    await using scene = await Scene.open();
    await scene.publish("a");
    expect(scene.driver.read("a", "key")).toBe("first");
    await scene.write({ key: "second" });
    await scene.untilRead("a", "second");
    const asked = await cluster.audit.since(mark, { user: scene.user });
    const kinds = new Set(
      asked.map(({ verb, resource, name }) => `${verb} ${resource} ${name ?? ""}`.trim()),
    );
    expect(kinds).toEqual(
      new Set([
        "create subjectaccessreviews",
        `get shares ${scene.namespace}`,
        "get secrets content",
        "watch secrets content",
      ]),
    );
    expect(asked.filter(({ code }) => code === 403)).toEqual([]);
  });

  test("are published once, however often kubelet asks, and also after the permission is gone", async () => {
    await using scene = await Scene.open();
    await scene.publish("a");
    await scene.forbid();
    await eventually(async (see) => "code" in see(await scene.ask("b")));
    expect(await scene.ask("a")).toEqual({ answer: {} });
    expect(await scene.ask("b")).toMatchObject({ code: "PERMISSION_DENIED" });
    expect(scene.driver.records()).toHaveLength(1);
    const other = await scene.driver.publish("a", scene.namespace, { share: "another" });
    expect(other).toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  test("[subscription-injection/AC-H8] are given back with their record, however often kubelet asks", async () => {
    await using scene = await Scene.open();
    await scene.publish("a");
    for (let round = 0; round < 2; round += 1)
      expect(await scene.driver.unpublish("a")).toEqual({ answer: {} });
    expect(scene.driver.tmpfs.mounted.size).toBe(0);
    expect(scene.driver.records()).toEqual([]);
  });

  test("leave neither mount nor record when publishing fails half-way, and succeed the next time", async () => {
    await using scene = await Scene.open();
    await scene.publish("first");
    scene.driver.tmpfs.failsNext = true;
    expect(await scene.ask("a")).toMatchObject({ code: "INTERNAL" });
    expect(scene.driver.tmpfs.isMounted(scene.driver.target("a"))).toBe(false);
    expect(scene.driver.records()).toHaveLength(1);
    expect(await scene.ask("a")).toEqual({ answer: {} });
  });

  test("keep the content of a Secret that is deleted, and follow one that takes its place", async () => {
    await using scene = await Scene.open();
    await scene.publish("a");
    await scene.removeSecret();
    expect(await eventually(async (see) => "code" in see(await scene.ask("b")))).toBe(true);
    expect(scene.driver.read("a", "key")).toBe("first");
    await scene.write({ key: "successor" });
    await scene.untilRead("a", "successor");
  });

  test("[subscription-injection/AC-H7] are recovered by a new driver, with what has changed meanwhile", async () => {
    await using scene = await Scene.open();
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
    await using scene = await Scene.open();
    await scene.publish("whole");
    await scene.publish("rebooted");
    await scene.driver.stop();
    scene.driver.tmpfs.mounted.delete(scene.driver.target("rebooted"));
    writeFileSync(join(scene.driver.recordFolder(), "broken.json"), "{");
    await scene.driver.start();
    expect(scene.driver.records()).toHaveLength(1);
    expect([...scene.driver.tmpfs.mounted]).toEqual([scene.driver.target("whole")]);
    await scene.publish("rebooted");
    expect(scene.driver.read("rebooted", "key")).toBe("first");
  });
});
