import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, describe, expect, test } from "vitest";

import { LocalClusterError } from "../../src/errors.ts";
import { desiredCorefile, nodeObjects } from "../../src/nodes/cluster-objects.ts";
import { desiredCniConfig, desiredContainerdConfig } from "../../src/nodes/container-runtime.ts";
import {
  desiredKubeletConfig,
  desiredKubeProxyConfig,
  kubeletArguments,
} from "../../src/nodes/kubelet-config.ts";
import { nodeBinds, nodeOverlays, nodePaths } from "../../src/nodes/node-paths.ts";
import { numberNodes } from "../../src/nodes/start-nodes.ts";

const directory = mkdtempSync(join(tmpdir(), "qm-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
const paths = nodePaths(directory, "node-1");

const kubelet = {
  name: "node-1",
  zone: "a",
  address: "172.30.0.11",
  paths,
  clientCaPath: "/ca.crt",
  serving: { certificatePath: "/serving.crt", keyPath: "/serving.key" },
  kubeconfigPath: "/kubeconfig",
};

describe("everything a node writes is below the cluster's directory", () => {
  const files = Object.entries<string>({ ...paths }).filter(
    ([key]) => !key.toLowerCase().endsWith("cgroup") && key !== "kubeletRoot",
  );

  test.each(files.map(([name, path]) => ({ name, path })))("$name", ({ path }) => {
    expect(path.startsWith(`${directory}/`)).toBe(true);
  });

  test("in containerd's configuration", () => {
    const written = [
      ...desiredContainerdConfig(paths, "/cni").matchAll(
        /^(?:root|state|address|path|conf_dir|Root) = "(.*)"$/gm,
      ),
    ];
    expect(written).toHaveLength(7);
    for (const [, path] of written) expect(path?.startsWith(`${directory}/`)).toBe(true);
  });

  test("in kubelet's configuration and command line", () => {
    expect(desiredKubeletConfig(kubelet)).toMatchObject({
      podLogsDir: paths.podLogs,
      volumePluginDir: `${paths.kubeletRoot}/volume-plugins`,
      containerRuntimeEndpoint: `unix://${paths.containerdSocket}`,
    });
    expect(kubeletArguments(kubelet)).toEqual(
      expect.arrayContaining([`--root-dir=${paths.kubeletRoot}`, `--cert-dir=${paths.kubeletRoot}/pki`]),
    );
  });

  test("kubelet's usual root is its directory in the cluster, unless the cluster itself lies in /var/lib", () => {
    expect(nodeBinds(paths)).toEqual([{ from: paths.kubeletData, to: "/var/lib/kubelet" }]);
    expect(paths.kubeletRoot).toBe("/var/lib/kubelet");
    const within = { ...paths, kubeletRoot: paths.kubeletData };
    expect(nodeBinds(within)).toEqual([]);
  });

  test("what no setting moves is caught by overlays, unless the cluster itself lies there", () => {
    expect(nodeOverlays("/home/me/c", "n").map(({ path }) => path)).toEqual(["/run", "/var/lib", "/var/log"]);
    expect(nodeOverlays("/var/lib/me/c", "n").map(({ path }) => path)).toEqual(["/run", "/var/log"]);
    for (const { upper, work } of nodeOverlays("/home/me/c", "n")) {
      expect(upper.startsWith("/home/me/c/")).toBe(true);
      expect(work.startsWith("/home/me/c/")).toBe(true);
    }
  });
});

describe("a node's kubelet", () => {
  test("queries the API server who may do what", () => {
    expect(desiredKubeletConfig(kubelet)).toMatchObject({
      authentication: { anonymous: { enabled: false }, webhook: { enabled: true } },
      authorization: { mode: "Webhook" },
    });
  });

  test("puts all pods below the node's cgroup", () => {
    expect(desiredKubeletConfig(kubelet)).toMatchObject({
      cgroupRoot: `/${paths.cgroup}`,
      cgroupsPerQOS: true,
      cgroupDriver: "cgroupfs",
    });
    expect(paths.systemCgroup.startsWith(`${paths.cgroup}/`)).toBe(true);
  });

  test("carries the node's name, address and zone", () => {
    expect(kubeletArguments(kubelet)).toEqual(
      expect.arrayContaining([
        "--hostname-override=node-1",
        "--node-ip=172.30.0.11",
        "--node-labels=topology.kubernetes.io/zone=a",
      ]),
    );
  });
});

describe("a node's other programs", () => {
  test("pods get their addresses from the node's own range", () => {
    expect(desiredCniConfig(paths, "10.244.1.0/24")).toMatchObject({
      plugins: [
        { type: "bridge", ipam: { ranges: [[{ subnet: "10.244.1.0/24" }]], dataDir: paths.cniState } },
      ],
    });
  });

  test("kube-proxy uses nftables and leaves the machine's limits alone", () => {
    const config = desiredKubeProxyConfig({
      name: "node-1",
      address: "172.30.0.11",
      kubeconfigPath: "/kubeconfig",
    });
    expect(config).toMatchObject({ mode: "nftables", conntrack: { maxPerCore: 0, min: 0 } });
  });

  test("the name server asks no one else", () => {
    const corefile = desiredCorefile("/kubeconfig");
    expect(corefile).toContain("rcode NXDOMAIN");
    expect(corefile).not.toContain("forward");
  });

  test("the name server's Service has the address that pods use", () => {
    const service = nodeObjects().find(({ object }) => object["kind"] === "Service");
    expect(service?.object).toMatchObject({ spec: { clusterIP: "10.96.0.10" } });
    expect(desiredKubeletConfig(kubelet)).toMatchObject({ clusterDNS: ["10.96.0.10"] });
  });
});

describe("the list of nodes", () => {
  const node = (name: string): { name: string; zone: string } => ({ name, zone: "a" });

  test("is numbered from one", () => {
    expect(numberNodes([node("x"), node("y")]).map(({ index }) => index)).toEqual([1, 2]);
  });

  test.each([
    { name: "a name that occurs twice", given: [node("x"), node("x")] },
    { name: "a name that is no DNS label", given: [node("Node_1")] },
    { name: "a name that leads out of the directory", given: [node("../x")] },
    { name: "the name of the control plane's place", given: [node("hub")] },
    {
      name: "more nodes than there are addresses",
      given: Array.from({ length: 201 }, (_, index) => node(`n${index}`)),
    },
  ])("is refused with $name", ({ given }) => {
    expect(() => numberNodes(given)).toThrow(LocalClusterError);
  });

  test("a directory too deep for a socket is refused before anything is started", () => {
    const deep = join(directory, "x".repeat(80));
    rmSync(deep, { recursive: true, force: true });
    process.getBuiltinModule("node:fs").mkdirSync(deep);
    expect(() => nodePaths(deep, "node-1")).toThrow(/too long for a socket/);
  });
});
