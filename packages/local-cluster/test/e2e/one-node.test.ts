import { execFile } from "node:child_process";
import { createServer as createHttpServer } from "node:http";
import { createServer } from "node:net";
import { networkInterfaces } from "node:os";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";

import { hasRealNodes } from "@quartermaster/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { LocalCluster } from "../../src/index.ts";
import { reachPods, startLocalCluster } from "../../src/index.ts";
import { apply, idlePod, kubectl, read, untilExec, untilPodReady, webPod, webService } from "./workloads.ts";
import type { Pod } from "./workloads.ts";

describe.runIf(hasRealNodes())("a cluster with one real node", () => {
  let cluster: LocalCluster;

  beforeAll(async () => {
    cluster = await startLocalCluster({ nodes: 1 });
    await apply(cluster, idlePod("client"), webPod("web", "echo hello > /www/index.html; echo started"));
    await apply(cluster, webService("greeter", "web"));
    await untilPodReady(cluster, "client");
    await untilPodReady(cluster, "web");
  });

  afterAll(async () => {
    await cluster?.stop();
  });

  test("[local-cluster/LC-20] a pod becomes Ready by its probe and gives its logs", async () => {
    const logs = await kubectl(cluster, "logs", "web");
    expect(logs).toContain("started");
    expect(logs).toContain("response:200"); // the probe's request
  });

  test("[local-cluster/LC-20] exec runs a command in a pod and passes on its exit code", async () => {
    expect(await kubectl(cluster, "exec", "web", "--", "cat", "/www/index.html")).toBe("hello\n");
    expect((await cluster.kubectl(["exec", "web", "--", "sh", "-c", "exit 7"])).code).toBe(7);
  });

  test("[local-cluster/LC-20] a pod reaches a Service by its name", async () => {
    expect(await untilExec(cluster, "client", "wget -qO- http://greeter")).toBe("hello\n");
    expect(await untilExec(cluster, "client", "wget -qO- http://greeter.default.svc.cluster.local")).toBe(
      "hello\n",
    );
  });

  test("[local-cluster/LC-20] a pod reaches the API server under its name in the cluster", async () => {
    const reply = await untilExec(
      cluster,
      "client",
      "nc -w 5 kubernetes.default.svc 443 < /dev/null && echo open",
    );
    expect(reply).toContain("open");
  });

  test("[local-cluster/LC-20] the API server reaches the Services of pods, where webhooks are", async () => {
    const address = await kubectl(cluster, "get", "service", "greeter", "-o", "jsonpath={.spec.clusterIP}");
    expect(await requestFromApiServer(cluster, `http://${address}`)).toBe("hello\n");
  });

  test("[local-cluster/LC-15] the API server reaches a port of this machine's loopback that was opened to it", async () => {
    const server = createHttpServer((_, response) => response.end("webhook")).listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as { readonly port: number };
    await cluster.reachHostPort(port);
    expect(await requestFromApiServer(cluster, `http://127.0.0.1:${port}`)).toBe("webhook");
    server.close();
  });

  test("this machine reaches pods and Services by a connection or a port of its loopback, and nothing else", async () => {
    const pods = await reachPods(cluster.directory);
    const address = async (...what: readonly string[]): Promise<string> =>
      await kubectl(cluster, "get", ...what);
    const pod = { host: await address("pod", "web", "-o", "jsonpath={.status.podIP}"), port: 8080 };
    const service = {
      host: await address("service", "greeter", "-o", "jsonpath={.spec.clusterIP}"),
      port: 80,
    };
    for (const target of [pod, service]) {
      const socket = await pods.dial(target);
      socket.end("GET /index.html HTTP/1.0\r\n\r\n");
      expect(await text(socket)).toMatch(/^HTTP\/1\.\d 200 [^]*hello\n$/);
    }
    await using local = await pods.localPort(service);
    const reply = await fetch(`http://127.0.0.1:${local.port}/index.html`);
    expect(await reply.text()).toBe("hello\n");
    await expect(pods.dial({ ...pod, port: 8081 })).rejects.toThrow("nothing listens");
    // The API server's own address would let in a client that reaches the socket.
    await expect(pods.dial({ host: "172.30.0.1", port: 6443 })).rejects.toThrow("nothing listens");
  });

  test("[local-cluster/LC-26] a pod reaches neither this machine nor any network behind it", async () => {
    const visitors: string[] = [];
    const server = createServer((socket) => visitors.push(String(socket.remoteAddress))).listen(0, "0.0.0.0");
    await new Promise((resolve) => server.once("listening", resolve));
    const port = (server.address() as { readonly port: number }).port;
    const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
    const targets = [
      "192.0.2.1",
      ...own.filter(({ family, internal }) => family === "IPv4" && !internal).map(({ address }) => address),
    ];
    for (const target of targets) {
      const attempt = await cluster.kubectl(["exec", "client", "--", "nc", "-w", "2", target, String(port)]);
      expect(attempt.code, `connecting to ${target}`).not.toBe(0);
      expect(attempt.stderr).toMatch(/unreachable|timed out/); // the kernel tells at most once a second
    }
    server.close();
    expect(visitors).toEqual([]);
  });

  test("[local-cluster/LC-26] a name outside the cluster does not exist", async () => {
    const { code, stdout } = await cluster.kubectl(["exec", "client", "--", "nslookup", "example.com"]);
    expect(code).not.toBe(0);
    expect(stdout).toContain("NXDOMAIN");
  });

  test("[local-cluster/LC-24] running containers are kept when kubelet is killed and restarted", async () => {
    const before = await read<Pod>(cluster, "pod", "web");
    await cluster.nodes[0]?.kubelet.kill();
    expect(cluster.nodes[0]?.kubelet.isRunning()).toBe(false);
    expect(await kubectl(cluster, "get", "--raw", "/api/v1/namespaces/default/pods/web:8080/proxy/")).toBe(
      "hello\n",
    );
    await cluster.nodes[0]?.kubelet.restart();
    expect(await untilExec(cluster, "web", "cat /www/index.html")).toBe("hello\n");
    expectSameContainers(await untilPodReady(cluster, "web"), before);
  });

  test("[local-cluster/LC-24] running containers are kept when containerd is killed and restarted", async () => {
    const before = await read<Pod>(cluster, "pod", "web");
    await cluster.nodes[0]?.containerd.kill();
    expect(await kubectl(cluster, "get", "--raw", "/api/v1/namespaces/default/pods/web:8080/proxy/")).toBe(
      "hello\n",
    );
    await cluster.nodes[0]?.containerd.restart();
    expect(await untilExec(cluster, "web", "cat /www/index.html")).toBe("hello\n");
    expectSameContainers(await untilPodReady(cluster, "web"), before);
  });
});

/** What a server answers when it is queried from the network namespace of the API server. */
async function requestFromApiServer(cluster: LocalCluster, url: string): Promise<string> {
  const script = `require("node:http").get("${url}", (response) => response.pipe(process.stdout))`;
  const inside = [`--net=${cluster.directory}/ns/hub.net`, "--", process.execPath, "-e", script];
  const { stdout } = await promisify(execFile)("nsenter", inside, { timeout: 10_000 });
  return stdout;
}

function expectSameContainers(after: Pod, before: Pod): void {
  const identify = ({ metadata, status }: Pod): unknown => [
    metadata.uid,
    status.containerStatuses?.map(({ containerID, restartCount }) => [containerID, restartCount]),
  ];
  expect(identify(after)).toEqual(identify(before));
}
