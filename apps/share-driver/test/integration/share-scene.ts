import { share } from "@quartermaster/api";
import {
  eventually,
  type FaultProxy,
  makeIdentity,
  makeNamespace,
  type SharedCluster,
  startFaultProxy,
} from "@quartermaster/testkit";

import { DriverProcess } from "./driver-process.ts";

const group = "rbac.authorization.k8s.io";
const shares = `/apis/${share.kind.group}/${share.kind.version}/shares`;

interface SceneOptions {
  readonly cluster: SharedCluster;
  readonly namespace: string;
  readonly user: string;
  readonly driver: DriverProcess;
  readonly proxy: FaultProxy;
  readonly dispose: () => Promise<void>;
}

/** A namespace with a driver that may read its Secret `content`, and a Share of that Secret which its accounts may use. */
export class ShareScene implements AsyncDisposable {
  readonly namespace: string;
  readonly driver: DriverProcess;
  readonly user: string;
  /** Between the driver and the API server. */
  readonly proxy: FaultProxy;
  readonly #cluster: SharedCluster;
  readonly #dispose: () => Promise<void>;

  private constructor(parts: SceneOptions) {
    this.#cluster = parts.cluster;
    this.namespace = parts.namespace;
    this.user = parts.user;
    this.driver = parts.driver;
    this.proxy = parts.proxy;
    this.#dispose = parts.dispose;
  }

  static async open(cluster: SharedCluster): Promise<ShareScene> {
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
    const proxy = await startFaultProxy({ upstream: cluster.admin });
    const driver = new DriverProcess({ ...identity, ...proxy.access });
    const scene = new ShareScene({
      cluster,
      namespace: namespace.name,
      user: identity.user,
      driver,
      proxy,
      dispose: async () => {
        await driver[Symbol.asyncDispose]();
        await proxy[Symbol.asyncDispose]();
        await namespace[Symbol.asyncDispose]();
      },
    });
    await scene.write({ key: "first" });
    await scene.share("content");
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
    await this.#cluster.api.apply(path, secret);
  }

  async removeSecret(): Promise<void> {
    await this.#cluster.api.send({
      method: "DELETE",
      path: `/api/v1/namespaces/${this.namespace}/secrets/content`,
    });
  }

  /** Makes the Share name this Secret. */
  async share(name: string): Promise<void> {
    const apiVersion = `${share.kind.group}/${share.kind.version}`;
    const backingResource = { kind: "Secret", name, namespace: this.namespace };
    const object = {
      apiVersion,
      kind: "Share",
      metadata: { name: this.namespace },
      spec: { backingResource },
    };
    await eventually(async () => {
      await this.#cluster.api.apply(`${shares}/${this.namespace}`, object);
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
    await this.#cluster.api.apply(`${path}/roles/use`, {
      apiVersion: `${group}/v1`,
      kind: "Role",
      metadata,
      rules,
    });
    await this.#cluster.api.apply(`${path}/rolebindings/use`, {
      apiVersion: `${group}/v1`,
      kind: "RoleBinding",
      metadata,
      roleRef: { apiGroup: group, kind: "Role", name: "use" },
      subjects: [{ kind: "ServiceAccount", name: "default", namespace: this.namespace }],
    });
  }

  async forbid(): Promise<void> {
    await this.revoke();
    await this.removeShare();
  }

  /** Takes the permission to use the Share away. */
  async revoke(): Promise<void> {
    const path = `/apis/${group}/v1/namespaces/${this.namespace}/rolebindings/use`;
    await this.#cluster.api.send({ method: "DELETE", path });
  }

  async removeShare(): Promise<void> {
    await this.#cluster.api.send({ method: "DELETE", path: `${shares}/${this.namespace}` });
  }

  /** Access reviews that the driver has requested. */
  reviews(): number {
    return this.proxy.trace.filter(({ resource }) => resource === "subjectaccessreviews").length;
  }

  /** Publishes the volume of a pod. Permissions that were just given take a moment. */
  async publish(uid: string): Promise<void> {
    await eventually(async (see) => "response" in see(await this.request(uid)));
  }

  async request(uid: string, attributes: Readonly<Record<string, string>> = {}): Promise<object> {
    return await this.driver.publish(uid, this.namespace, { share: this.namespace, ...attributes });
  }

  async untilRead(uid: string, value: string): Promise<void> {
    await eventually((see) => see(this.driver.read(uid, "key")) === value, { withinMs: 10_000 });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#dispose();
  }
}
