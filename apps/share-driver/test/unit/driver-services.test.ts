import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { silentLog } from "@quartermaster/runtime";
import { afterAll, describe, expect, test } from "vitest";

import { csiServices, registrationServices } from "../../src/csi/csi-services.ts";
import { identityService, nodeService, registrationService } from "../../src/csi/service-spec.ts";
import { SocketServer } from "../../src/csi/socket-server.ts";
import { Refusal } from "../../src/refusal.ts";
import type { VolumeRequest } from "../../src/volume/volume-request.ts";
import { SocketClient } from "./socket-client.ts";

const directory = mkdtempSync(join(tmpdir(), "qm-csi-"));
afterAll(() => {
  rmSync(directory, { recursive: true, force: true });
});

const publishRequest = {
  volumeId: "csi-1",
  targetPath: "/var/lib/kubelet/pods/uid-1/volumes/kubernetes.io~csi/etc/mount",
  readonly: true,
  volumeContext: {
    share: "a",
    "csi.storage.k8s.io/pod.name": "web",
    "csi.storage.k8s.io/pod.namespace": "app",
    "csi.storage.k8s.io/pod.uid": "uid-1",
    "csi.storage.k8s.io/serviceAccount.name": "default",
    "csi.storage.k8s.io/ephemeral": "true",
  },
};

async function serve(
  name: string,
  publish: (readRequest: () => VolumeRequest) => Promise<void>,
): Promise<AsyncDisposable & { readonly client: SocketClient; readonly unpublished: string[] }> {
  const path = join(directory, `${name}.sock`);
  const unpublished: string[] = [];
  const volumes = {
    publish,
    unpublish: async (volumeId: string, target: string) => {
      await Promise.resolve();
      unpublished.push(`${volumeId} ${target}`);
    },
  };
  const services = csiServices({ nodeName: "node-1", kubeletDirectory: "/var/lib/kubelet", volumes });
  const server = await SocketServer.listen(path, services, silentLog);
  const client = new SocketClient(path);
  return {
    client,
    unpublished,
    [Symbol.asyncDispose]: async () => {
      client[Symbol.dispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

describe("the plugin's socket", () => {
  test("tells kubelet what the plugin is", async () => {
    await using served = await serve("identity", async () => await Promise.resolve());
    const query = async (method: string): Promise<unknown> =>
      await served.client.call(identityService, method);
    expect(await query("GetPluginInfo")).toEqual({
      response: { name: "projected-resource.storage.openshift.io", vendorVersion: "0.0.0" },
    });
    expect(await query("GetPluginCapabilities")).toEqual({ response: {} });
    expect(await query("Probe")).toEqual({ response: { ready: true } });
  });

  test("tells kubelet the node's name", async () => {
    await using served = await serve("node", async () => await Promise.resolve());
    expect(await served.client.call(nodeService, "NodeGetInfo")).toEqual({ response: { nodeId: "node-1" } });
    expect(await served.client.call(nodeService, "NodeGetCapabilities")).toEqual({ response: {} });
  });

  test("is open to no one but root", async () => {
    await using _ = await serve("mode", async () => await Promise.resolve());
    expect(statSync(join(directory, "mode.sock")).mode & 0o777).toBe(0o600);
  });

  test("hands a volume's request on, maps and all", async () => {
    const requests: VolumeRequest[] = [];
    await using served = await serve("publish", async (readRequest) => {
      await Promise.resolve();
      requests.push(readRequest());
    });
    expect(await served.client.call(nodeService, "NodePublishVolume", publishRequest)).toEqual({
      response: {},
    });
    expect(requests).toEqual([
      {
        volumeId: "csi-1",
        target: publishRequest.targetPath,
        pod: { namespace: "app", name: "web", uid: "uid-1", serviceAccount: "default" },
        shares: ["a"],
        mode: 0o444,
      },
    ]);
    const { volumeId, targetPath } = publishRequest;
    await served.client.call(nodeService, "NodeUnpublishVolume", { volumeId, targetPath });
    expect(served.unpublished).toEqual([`csi-1 ${targetPath}`]);
  });

  test("answers a refusal with its code and its message", async () => {
    await using served = await serve("refusal", async () => {
      await Promise.resolve();
      throw new Refusal("Forbidden", "not permitted");
    });
    expect(await served.client.call(nodeService, "NodePublishVolume", publishRequest)).toEqual({
      code: "PERMISSION_DENIED",
      message: "not permitted",
    });
  });

  test("[subscription-injection/AC-H9] refuses a path outside kubelet's directory, to mount and to unmount", async () => {
    await using served = await serve("path", async (readRequest) => {
      await Promise.resolve();
      readRequest();
    });
    const end = {
      code: "INVALID_ARGUMENT",
      message: "the target path is not one of kubelet's for CSI volumes",
    };
    const request = { ...publishRequest, targetPath: "/etc" };
    expect(await served.client.call(nodeService, "NodePublishVolume", request)).toEqual(end);
    const { volumeId, targetPath } = request;
    expect(await served.client.call(nodeService, "NodeUnpublishVolume", { volumeId, targetPath })).toEqual(
      end,
    );
    expect(served.unpublished).toEqual([]);
  });

  test("keeps the details of its own faults to itself", async () => {
    await using served = await serve("fault", async () => {
      await Promise.resolve();
      throw new Error("password=hunter2");
    });
    const end = await served.client.call(nodeService, "NodePublishVolume", publishRequest);
    expect(end).toMatchObject({ code: "INTERNAL" });
    expect(JSON.stringify(end)).not.toContain("hunter2");
  });

  test("takes the place of a socket that was left behind", async () => {
    const path = join(directory, "left.sock");
    const first = await SocketServer.listen(path, [], silentLog);
    await using _ = await SocketServer.listen(path, [], silentLog);
    expect(statSync(path).isSocket()).toBe(true);
    await first[Symbol.asyncDispose]();
  });
});

describe("the registration socket", () => {
  test("names the driver and its socket, and learns whether kubelet took it", async () => {
    const path = join(directory, "reg.sock");
    const statuses: boolean[] = [];
    const onStatus = (isRegistered: boolean): void => {
      statuses.push(isRegistered);
    };
    const services = registrationServices({ endpoint: "/plugins/csi.sock", log: silentLog, onStatus });
    await using _ = await SocketServer.listen(path, services, silentLog);
    using client = new SocketClient(path);
    expect(await client.call(registrationService, "GetInfo")).toEqual({
      response: {
        type: "CSIPlugin",
        name: "projected-resource.storage.openshift.io",
        endpoint: "/plugins/csi.sock",
        supportedVersions: ["1.0.0"],
      },
    });
    await client.call(registrationService, "NotifyRegistrationStatus", { pluginRegistered: true });
    await client.call(registrationService, "NotifyRegistrationStatus", { error: "no" });
    expect(statuses).toEqual([true, false]);
  });
});
