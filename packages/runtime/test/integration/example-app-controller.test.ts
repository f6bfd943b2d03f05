import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { eventually, joinSharedCluster, makeNamespace } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import type { Client } from "../../src/client/client.ts";
import { type Deployment, deployments } from "../../src/kinds/workloads.ts";
import { defineKind } from "../../src/object/kind.ts";
import { connect } from "../support/connect.ts";
import { secrets } from "../support/kinds.ts";
import { deadAddress } from "../support/scripted-server.ts";
import { makeServing, registrationOf } from "../support/serving.ts";
import { startExample } from "../support/start-example.ts";
import { makeTempDirectory } from "../support/temp-directory.ts";
import { conditionOf, type Widget } from "../support/widgets.ts";

const directory = join(import.meta.dirname, "../../../../examples/app-controller");
const group = { group: "example.org", version: "v1" };
const apps = defineKind<Widget>({ ...group, kind: "App", plural: "apps", scope: "Namespaced" });

function anApp(metadata: { name: string; namespace: string }, image: string): Widget {
  return { apiVersion: "example.org/v1", kind: "App", metadata, spec: { image, secretName: "s" } };
}

async function annotatedVersion(
  client: Client,
  ref: { name: string; namespace: string },
): Promise<string | undefined> {
  const deployment: Deployment | undefined = await client.find(deployments, ref);
  return deployment?.spec.template.metadata?.annotations?.["example.org/secret-version"];
}

describe("the example with rules, a webhook and a followed Secret", () => {
  test("is one file of at most 120 lines", () => {
    const lines = readFileSync(join(directory, "main.ts"), "utf8").trimEnd().split("\n");
    expect(lines.length).toBeLessThanOrEqual(120);
  });

  test("deploys, restarts when the Secret changes, refuses an image without a tag, and ends on SIGTERM", async () => {
    using cluster = joinSharedCluster();
    await using connected = connect(cluster.admin);
    const { client } = connected;
    await using namespace = await makeNamespace(cluster.api, "example");
    const ref = { name: "one", namespace: namespace.name };
    const definition: unknown = JSON.parse(readFileSync(join(directory, "crd.json"), "utf8"));
    const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    await cluster.api.apply(`${definitions}/apps.example.org`, definition);
    await using files = await makeTempDirectory();
    const { ca, certificates } = await makeServing();
    const { certificatePem = "", keyPem = "" } = certificates.current() ?? {};
    await files.write("tls.crt", certificatePem);
    await files.write("tls.key", keyPem);
    const { port } = new URL(await deadAddress());
    const env = { KUBECONFIG: cluster.kubeconfigPath, CERTIFICATES: files.path, WEBHOOK_PORT: port };
    await using example = startExample("app-controller", env);
    const given = { name: `apps-${namespace.name}`, kind: "Validating", path: "/apps" } as const;
    const resource = { group: apps.group, plural: apps.plural };
    const where = {
      port: Number(port),
      caPem: ca.certificatePem,
      namespace: namespace.name,
      resource,
    };
    const webhook = `/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/${given.name}`;
    await cluster.api.apply(webhook, registrationOf({ ...given, ...where }));
    await using stack = new AsyncDisposableStack();
    stack.defer(async () => {
      await cluster.api.send({ method: "DELETE", path: webhook });
    });

    // Accepted once the kind is served and the webhook answers; the Secret is not there yet.
    await eventually(async () => await client.create(apps, anApp(ref, "shop:1.0")));
    await eventually(
      async (see) => see(conditionOf(await client.get(apps, ref), "Ready"))?.reason === "SecretMissing",
    );
    const untagged = client.create(apps, anApp({ ...ref, name: "two" }, "shop"));
    await expect(untagged).rejects.toMatchObject({ class: "invalid", causes: [{ field: "spec.image" }] });

    const secret = { apiVersion: "v1", kind: "Secret", metadata: { ...ref, name: "s" } };
    const first = await client.create(secrets, { ...secret, stringData: { key: "one" } });
    const deployed = async (version: string): Promise<void> => {
      await eventually(async (see) => see(await annotatedVersion(client, ref)) === version);
    };
    await deployed(first.metadata.resourceVersion);
    const changed = await client.replace(secrets, { ...secret, stringData: { key: "two" } });
    await deployed(changed.metadata.resourceVersion);

    const ended = once(example, "exit");
    example.kill("SIGTERM");
    expect(await ended).toEqual([0, null]);
  });
});
