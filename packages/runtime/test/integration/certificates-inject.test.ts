import { randomBytes } from "node:crypto";

import { joinSharedCluster, makeNamespace, type SharedCluster } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { injectBundle } from "../../src/certificates/bundle-target.ts";
import { readCaBundle } from "../../src/certificates/ca-bundle.ts";
import { connect } from "../support/connect.ts";
import { registrationOf } from "../support/serving.ts";
import { makeTestCertificate } from "../support/test-certificate.ts";

const bundle = makeTestCertificate("authority").certPem;
const encoded = Buffer.from(bundle).toString("base64");

async function read(cluster: SharedCluster, path: string): Promise<Record<string, unknown>> {
  return JSON.parse((await cluster.api.send({ path })).body) as Record<string, unknown>;
}

describe("the bundle", () => {
  test.each(["mutating", "validating"] as const)(
    "[runtime/RT-25] is put into a %s configuration, once, beside what others wrote there",
    async (kind) => {
      using cluster = joinSharedCluster();
      await using connected = connect(cluster.admin);
      const name = `i${randomBytes(4).toString("hex")}`;
      const path = `/apis/admissionregistration.k8s.io/v1/${kind}webhookconfigurations/${name}`;
      const kindName = kind === "mutating" ? "Mutating" : "Validating";
      const given = { name, kind: kindName, port: 1, path: "/x", namespace: "nowhere" } as const;
      await cluster.api.apply(path, registrationOf(given));
      const writer = { client: connected.client, fieldManager: "test" };
      expect(await injectBundle(writer, { kind, name }, bundle)).toBe(true);
      expect(await injectBundle(writer, { kind, name }, bundle)).toBe(false);
      const { webhooks } = (await read(cluster, path)) as { webhooks: readonly Record<string, unknown>[] };
      expect(webhooks).toHaveLength(1);
      expect(webhooks[0]).toMatchObject({
        clientConfig: { url: "https://127.0.0.1:1/x", caBundle: encoded },
        failurePolicy: "Fail",
      });
      await cluster.api.send({ method: "DELETE", path });
    },
  );

  test("[runtime/RT-25] is put into a CustomResourceDefinition's conversion and nothing else changes", async () => {
    using cluster = joinSharedCluster();
    await using connected = connect(cluster.admin);
    const group = `i${randomBytes(4).toString("hex")}.example.org`;
    const name = `things.${group}`;
    const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}`;
    const schema = { openAPIV3Schema: { type: "object" } };
    const webhook = {
      clientConfig: { url: "https://127.0.0.1:1/convert" },
      conversionReviewVersions: ["v1"],
    };
    await cluster.api.apply(path, {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name },
      spec: {
        group,
        scope: "Namespaced",
        names: { kind: "Thing", plural: "things" },
        versions: [{ name: "v1", served: true, storage: true, schema }],
        conversion: { strategy: "Webhook", webhook },
      },
    });
    const writer = { client: connected.client, fieldManager: "test" };
    expect(await injectBundle(writer, { kind: "conversion", name }, bundle)).toBe(true);
    expect(await injectBundle(writer, { kind: "conversion", name }, bundle)).toBe(false);
    const { spec } = (await read(cluster, path)) as { spec: Record<string, unknown> };
    const clientConfig = { url: "https://127.0.0.1:1/convert", caBundle: encoded };
    expect(spec["conversion"]).toEqual({ strategy: "Webhook", webhook: { ...webhook, clientConfig } });
    await cluster.api.send({ method: "DELETE", path });
  });

  test("is not put into what does not exist", async () => {
    using cluster = joinSharedCluster();
    await using connected = connect(cluster.admin);
    const writer = { client: connected.client, fieldManager: "test" };
    for (const kind of ["mutating", "validating", "conversion"] as const) {
      expect(await injectBundle(writer, { kind, name: "absent.example.org" }, bundle)).toBe(false);
    }
  });

  test("is read from a ConfigMap, and is missing until it is there", async () => {
    using cluster = joinSharedCluster();
    await using namespace = await makeNamespace(cluster.api, "bundle");
    await using connected = connect(cluster.admin);
    const ref = { namespace: namespace.name, name: "trust" };
    expect(await readCaBundle(connected.client, ref)).toEqual({ kind: "missing" });
    const data = { "service-ca.crt": cluster.admin.caPem };
    const path = `/api/v1/namespaces/${namespace.name}/configmaps/trust`;
    await cluster.api.apply(path, { apiVersion: "v1", kind: "ConfigMap", metadata: ref, data });
    expect(await readCaBundle(connected.client, ref, { key: "service-ca.crt" })).toMatchObject({
      kind: "bundle",
      count: 1,
    });
    expect(await readCaBundle(connected.client, ref)).toEqual({ kind: "missing" });
  });
});
