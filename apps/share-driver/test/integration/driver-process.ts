import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { realSystem, silentLog } from "@quartermaster/runtime";
import { eventually, type Identity } from "@quartermaster/testkit";
import { stringify } from "yaml";

import { nodeService } from "../../src/csi/service-spec.ts";
import { runDriver } from "../../src/run-driver.ts";
import { DRIVER_NAME } from "../../src/settings.ts";
import { DirectoryTmpfs } from "../unit/directory-tmpfs.ts";
import { type CallEnd, SocketClient } from "../unit/socket-client.ts";

/** A kubelet's directory with a driver in it that acts as the identity, and the test in the place of kubelet. */
export class DriverProcess implements AsyncDisposable {
  readonly tmpfs = new DirectoryTmpfs();
  readonly kubeletDirectory = mkdtempSync(join(tmpdir(), "qm-kubelet-"));
  readonly #kubeconfigPath = join(this.kubeletDirectory, "kubeconfig");
  #stop = new AbortController();
  #ended: Promise<void> = Promise.resolve();

  constructor({ server, caPem, token }: Identity) {
    const cluster = { server, "certificate-authority-data": Buffer.from(caPem).toString("base64") };
    const config = {
      apiVersion: "v1",
      kind: "Config",
      "current-context": "c",
      clusters: [{ name: "c", cluster }],
      users: [{ name: "u", user: { token } }],
      contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
    };
    writeFileSync(this.#kubeconfigPath, stringify(config));
  }

  /** Starts the driver and waits for its sockets. */
  async start(): Promise<void> {
    this.#stop = new AbortController();
    const { kubeletDirectory, tmpfs } = this;
    const settings = {
      nodeName: "node-1",
      kubeletDirectory,
      metricsPort: 0,
      logLevel: "info",
      kubeconfigPath: this.#kubeconfigPath,
    } as const;
    this.#ended = runDriver(settings, {
      system: realSystem(),
      signal: this.#stop.signal,
      log: silentLog,
      tmpfs,
    });
    await eventually(() => existsSync(join(kubeletDirectory, "plugins_registry", `${DRIVER_NAME}-reg.sock`)));
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#ended;
  }

  /** Where the volume of a pod with this uid goes. */
  target(uid: string, volume = "etc"): string {
    return join(this.kubeletDirectory, "pods", uid, "volumes", "kubernetes.io~csi", volume, "mount");
  }

  /** Requests a volume as kubelet does for a pod of the namespace. `volume` is the name of the volume in the pod (default: etc). */
  async publish(
    uid: string,
    namespace: string,
    { volume, ...attributes }: Readonly<Record<string, string>>,
  ): Promise<CallEnd> {
    return await this.#call("NodePublishVolume", {
      volumeId: `csi-${uid}${volume ?? ""}`,
      targetPath: this.target(uid, volume),
      readonly: true,
      volumeContext: {
        "csi.storage.k8s.io/pod.name": "web",
        "csi.storage.k8s.io/pod.namespace": namespace,
        "csi.storage.k8s.io/pod.uid": uid,
        "csi.storage.k8s.io/serviceAccount.name": "default",
        "csi.storage.k8s.io/ephemeral": "true",
        ...attributes,
      },
    });
  }

  /** Gives a volume back. */
  async unpublish(uid: string): Promise<CallEnd> {
    return await this.#call("NodeUnpublishVolume", { volumeId: `csi-${uid}`, targetPath: this.target(uid) });
  }

  /** Content of a file of the volume. */
  read(uid: string, key: string): string {
    return readFileSync(join(this.target(uid), key), "utf8");
  }

  /** Files of the driver about volumes. */
  records(): readonly string[] {
    return readdirSync(this.recordDirectory());
  }

  /** Changes the record to that of a driver that was killed between the mount and the last file. */
  cutOffWhilePublishing(uid: string): void {
    for (const name of this.records()) {
      const path = join(this.recordDirectory(), name);
      const text = readFileSync(path, "utf8");
      if (text.includes(`"csi-${uid}"`)) writeFileSync(path, text.replace('"published"', '"publishing"'));
    }
  }

  recordDirectory(): string {
    return join(this.kubeletDirectory, "plugins", DRIVER_NAME, "volumes");
  }

  async #call(method: string, request: Parameters<SocketClient["call"]>[2] & object): Promise<CallEnd> {
    using client = new SocketClient(join(this.kubeletDirectory, "plugins", DRIVER_NAME, "csi.sock"));
    return await client.call(nodeService, method, request);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    rmSync(this.kubeletDirectory, { recursive: true, force: true });
  }
}
