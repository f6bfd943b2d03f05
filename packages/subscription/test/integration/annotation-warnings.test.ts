import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";

import { eventually } from "@quartermaster/testkit";
import { expect, test } from "vitest";

import { type BundleBench, setUpBench } from "../support/bench.ts";
import { enforcePolicy } from "../support/policy.ts";

const prefix = "subscription.openshift.io/";

/** What kubectl would print as a warning. */
async function warningsOf({ cluster }: BundleBench, path: string, body: object): Promise<string> {
  const { server, caPem, token } = cluster.admin;
  const text = JSON.stringify(body);
  const headers = {
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
    "content-length": Buffer.byteLength(text),
  };
  const sent = request(new URL(`${path}?dryRun=All`, server), { method: "POST", ca: caPem, headers });
  sent.end(text);
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  response.resume();
  expect(response.statusCode).toBe(201);
  return response.headers["warning"] ?? "";
}

const spec = { containers: [{ name: "main", image: "registry.invalid/ubi" }] };

test("[first-use/14] a misspelled annotation, and one on the Deployment, are warned about with the right place", async () => {
  await using bench = await setUpBench({ isOperating: false });
  await enforcePolicy(bench, "subscription-annotations.yaml");
  const core = `/api/v1/namespaces/${bench.namespace}/pods`;
  const pod = (key: string): object => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "p", annotations: { [`${prefix}${key}`]: "rhel" } },
    spec,
  });
  await eventually(async (see) =>
    see(await warningsOf(bench, core, pod("inject-clusterbundle"))).includes(
      `did you mean ${prefix}inject-cluster-bundle?`,
    ),
  );
  expect(await warningsOf(bench, core, pod("nothing-like-it"))).toContain("known are inject-bundle");
  expect(await warningsOf(bench, core, pod("inject-bundle"))).not.toContain("annotation");
  const apps = `/apis/apps/v1/namespaces/${bench.namespace}/deployments`;
  const deployment = (outer: object, inner: object): object => ({
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "d", annotations: outer },
    spec: {
      selector: { matchLabels: { app: "d" } },
      template: { metadata: { labels: { app: "d" }, annotations: inner }, spec },
    },
  });
  const right = { [`${prefix}inject-bundle`]: "rhel" };
  expect(await warningsOf(bench, apps, deployment(right, {}))).toContain(
    "spec.template.metadata.annotations",
  );
  expect(await warningsOf(bench, apps, deployment({}, right))).not.toContain("annotation");
  expect(await warningsOf(bench, apps, deployment({}, { [`${prefix}injectbundle`]: "rhel" }))).toContain(
    `did you mean ${prefix}inject-bundle?`,
  );
});
