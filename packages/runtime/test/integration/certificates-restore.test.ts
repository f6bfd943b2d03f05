import { randomBytes } from "node:crypto";

import { eventually, joinSharedCluster, makeNamespace } from "@quartermaster/testkit";
import { expect, test } from "vitest";

import { IssuedCertificates } from "../../src/certificates/issued-certificates.ts";
import { InformerPool } from "../../src/informers/informer-pool.ts";
import { realSystem } from "../../src/system/real-system.ts";
import { connect } from "../support/connect.ts";
import { configMaps } from "../support/kinds.ts";
import { registrationOf } from "../support/serving.ts";

const system = realSystem();

test("a bundle that another client edits, and one in a configuration made again, is restored within 10 s and then left alone", async () => {
  using cluster = joinSharedCluster();
  await using namespace = await makeNamespace(cluster.api, "restore");
  await using connected = connect(cluster.admin);
  const name = `e${randomBytes(4).toString("hex")}`;
  const path = `/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/${name}`;
  const given = { name, kind: "Mutating", port: 1, path: "/x", namespace: "nowhere" } as const;
  await cluster.api.apply(path, registrationOf(given));
  await using informers = new InformerPool({ transport: connected.transport, system, freeze: true });
  const certificates = new IssuedCertificates({
    client: connected.client,
    system,
    secret: { namespace: namespace.name, name: "ca" },
    ipAddresses: ["127.0.0.1"],
    targets: [{ kind: "mutating", name }],
    informers,
  });
  const stopping = new AbortController();
  const running = certificates.run(stopping.signal);
  const read = async (): Promise<{ readonly bundle: string; readonly version: string }> => {
    const { metadata, webhooks } = JSON.parse((await cluster.api.send({ path })).body) as {
      readonly metadata: { readonly resourceVersion: string };
      readonly webhooks: readonly { readonly clientConfig: { readonly caBundle?: string } }[];
    };
    return { bundle: webhooks[0]?.clientConfig.caBundle ?? "", version: metadata.resourceVersion };
  };
  const restored = async (bundle: string): Promise<void> => {
    await eventually(async (see) => see(await read()).bundle === bundle, { withinMs: 10_000 });
  };
  await eventually(async (see) => see(await read()).bundle !== "", { withinMs: 10_000 });
  const { bundle } = await read();

  const foreign = Buffer.from(
    Buffer.from(bundle, "base64").toString().replace(/^/u, "# another client was here\n"),
  ).toString("base64");
  const edit = [{ op: "replace", path: "/webhooks/0/clientConfig/caBundle", value: foreign }];
  const contentType = "application/json-patch+json";
  expect((await cluster.api.send({ method: "PATCH", path, body: edit, contentType })).status).toBe(200);
  await restored(bundle);

  await cluster.api.send({ method: "DELETE", path });
  await cluster.api.apply(path, registrationOf(given));
  await restored(bundle);

  // Our own write comes back as an event too; it must not lead to another one.
  const { version } = await read();
  await informers.acquire({ kind: configMaps, namespace: namespace.name }).synced;
  expect(await read()).toEqual({ bundle, version });
  stopping.abort();
  await running;
  await cluster.api.send({ method: "DELETE", path });
});
