import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { eventually, joinSharedCluster, makeNamespace } from "@quartermaster/testkit";
import { expect, test } from "vitest";

import { samplesIn } from "../support/metrics-page.ts";
import { Operator, plans } from "../support/operator.ts";

/** Clears a terminal, and would be a line of its own in a log that is not JSON. */
const forged = '\u001b[2J\n{"level":"error","message":"forged"}\r\n\u0007';

function aPlan(metadata: object, manifest: object): object {
  return {
    apiVersion: "install.quartermaster.dev/v1alpha1",
    kind: "InstallPlan",
    metadata,
    spec: { serviceAccountName: "installer", stages: [{ name: "only", resources: [{ manifest }] }] },
  };
}

test("[security/85] what tenants write cannot forge a line of the log", async () => {
  using cluster = joinSharedCluster();
  const { api } = cluster;
  await using namespace = await makeNamespace(api, "operator");
  const location = ["--kubeconfig", cluster.kubeconfigPath, "--watch-namespace", namespace.name];
  const quiet = ["--metrics-port", "0", "--metrics-host", "127.0.0.1", "--log-level", "debug"];
  await using operator = new Operator([...location, ...quiet]);
  await operator.port();
  const annotations = { note: forged };
  // The server itself refuses such kinds and labels.
  const one = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "one" } };
  const hostile = {
    version: { ...one, apiVersion: `v1${forged}` },
    name: { ...one, metadata: { name: `one${forged}` } },
    field: { ...one, [forged]: forged },
  };
  const shown: string[] = [];
  for (const [name, manifest] of Object.entries(hostile)) {
    const path = `${plans}/namespaces/${namespace.name}/installplans/${name}`;
    await api.apply(path, aPlan({ namespace: namespace.name, name, annotations }, manifest));
    const text = await eventually(async (see) => {
      const reply = see((await api.send({ path })).body);
      return reply.includes('"observedGeneration"') ? reply : undefined;
    });
    shown.push(JSON.stringify((JSON.parse(text) as { readonly status: unknown }).status));
  }
  const { body: events } = await api.send({
    path: `/apis/events.k8s.io/v1/namespaces/${namespace.name}/events`,
  });
  const notes = (JSON.parse(events) as { readonly items: readonly { readonly note: string }[] }).items;
  shown.push(...notes.map(({ note }) => JSON.stringify(note)));
  expect(shown.filter((text) => /\\u00[0189]|\\[nr]/.test(text))).toEqual([]);
  expect(await operator.end("SIGTERM")).toBe(0);
  const lines = operator.output.trim().split("\n");
  expect(
    lines.map((line) => messageOf(line)).filter((message) => message === "forged" || message === undefined),
  ).toEqual([]);
});

/** The message of a line of the log; undefined when it is no such line, or has something in it that steers a terminal. */
function messageOf(line: string): unknown {
  // oxlint-disable-next-line no-control-regex -- control characters are what it is about
  if (/[\u0000-\u001f\u007f-\u009f]/.test(line)) return undefined;
  return (JSON.parse(line) as { readonly message?: unknown }).message;
}

test("[security/86] plans of tenants add no series to the metrics", async () => {
  using cluster = joinSharedCluster();
  const { api } = cluster;
  await using namespace = await makeNamespace(api, "operator");
  const location = ["--kubeconfig", cluster.kubeconfigPath, "--watch-namespace", namespace.name];
  await using operator = new Operator([...location, "--metrics-port", "0", "--metrics-host", "127.0.0.1"]);
  const page = `http://127.0.0.1:${await operator.port()}/metrics`;
  const read = async (): Promise<ReturnType<typeof samplesIn>> => samplesIn(await (await fetch(page)).text());
  const add = async (from: number, to: number): Promise<void> => {
    for (let at = from; at < to; at += 1) {
      const name = `tenant-${at}`;
      const manifest = { apiVersion: "v1", kind: "ConfigMap", metadata: { name, labels: { name } } };
      await api.apply(
        `${plans}/namespaces/${namespace.name}/installplans/${name}`,
        aPlan({ namespace: namespace.name, name, labels: { tenant: name } }, manifest),
      );
    }
    await eventually(async (see) => {
      const phases = see((await read()).filter(({ name }) => name === "quartermaster_install_plans"));
      return phases.reduce((sum, { value }) => sum + value, 0) === to;
    });
  };
  await add(0, 20);
  // Once it has written a status and an event, every kind of request that it makes has its series.
  await eventually(async (see) => {
    const requested = see((await read()).filter(({ name }) => name === "rest_client_requests_total"));
    return ["PATCH", "POST"].every((method) => requested.some(({ labels }) => labels["method"] === method));
  });
  const few = await read();
  // 120 for 1,000: what grows with plans would show here as well.
  await add(20, 120);
  const many = await read();
  // A request of a kind or with a response that was not seen before adds a histogram; plans add nothing.
  expect(many.length - few.length).toBeLessThan(60);
  expect(many.length).toBeLessThan(2_000);
  expect(
    many.flatMap(({ labels }) => Object.values(labels)).filter((value) => value.includes("tenant")),
  ).toEqual([]);
});

test("[security/102] a kubeconfig without verification is refused unless a flag accepts it, which is logged", async () => {
  using cluster = joinSharedCluster();
  await using directory = await temporaryDirectory();
  const { server, token } = cluster.admin;
  const path = await directory.kubeconfig({ server, "insecure-skip-tls-verify": true }, { token });
  const flags = ["--kubeconfig", path, "--metrics-port", "0", "--metrics-host", "127.0.0.1"];
  await using refused = new Operator(flags);
  expect(await refused.end()).toBe(2);
  expect(refused.output).toContain("clusters[0].cluster.insecure-skip-tls-verify: ");
  expect(refused.output).toContain("pass --insecure-skip-tls-verify");
  await using accepted = new Operator([...flags, "--insecure-skip-tls-verify"]);
  await accepted.port();
  expect(accepted.output).toContain('"message":"tls verification is switched off"');
});

test("[security/102] a token is never sent over http:", async () => {
  await using directory = await temporaryDirectory();
  const heard: unknown[] = [];
  const eavesdropper = createServer(({ headers }, response) => {
    heard.push(headers.authorization);
    response.writeHead(500).end();
  });
  await using _ = eavesdropper;
  await new Promise((resolve) => eavesdropper.listen(0, "127.0.0.1", () => resolve(undefined)));
  const { port } = eavesdropper.address() as AddressInfo;
  const path = await directory.kubeconfig({ server: `http://127.0.0.1:${port}` }, { token: "canary" });
  await using operator = new Operator(["--kubeconfig", path, "--insecure-skip-tls-verify"]);
  expect(await operator.end()).toBe(2);
  expect(operator.output).toContain("users[0].user.token: must not be sent over http:");
  expect(operator.output).not.toContain("canary");
  expect(heard).toEqual([]);
});

/** A directory for kubeconfigs, with one cluster and user each. */
async function temporaryDirectory(): Promise<
  AsyncDisposable & { readonly kubeconfig: (cluster: object, user: object) => Promise<string> }
> {
  const directory = await mkdtemp(join(tmpdir(), "qm-operator-"));
  return {
    kubeconfig: async (cluster, user) => {
      const path = join(directory, "kubeconfig");
      const content = {
        apiVersion: "v1",
        kind: "Config",
        "current-context": "a",
        clusters: [{ name: "a", cluster }],
        users: [{ name: "a", user }],
        contexts: [{ name: "a", context: { cluster: "a", user: "a" } }],
      };
      await writeFile(path, JSON.stringify(content));
      return path;
    },
    [Symbol.asyncDispose]: async () => {
      await rm(directory, { recursive: true, force: true });
    },
  };
}
