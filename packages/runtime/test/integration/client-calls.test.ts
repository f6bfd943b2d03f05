import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { createClient } from "../../src/client/create-client.ts";
import { Discovery } from "../../src/client/discovery.ts";
import { OpenApi } from "../../src/client/open-api.ts";
import { loadConfig } from "../../src/config/load-config.ts";
import { ApiError } from "../../src/errors.ts";
import { InformerPool } from "../../src/informers/informer-pool.ts";
import type { Live } from "../../src/object/kube-object.ts";
import { realSystem } from "../../src/system/real-system.ts";
import { createTransport } from "../../src/transport/transport.ts";
import { type LocalCluster, startTestCluster } from "../support/cluster.ts";
import { connect, type Connected } from "../support/connect.ts";
import { type ConfigMap, configMaps, namespaces, pods, secrets, serviceAccounts } from "../support/kinds.ts";
import { makeTestKind } from "../support/test-kind.ts";

let cluster: LocalCluster;
let connected: Connected;

beforeAll(async () => {
  cluster = await startTestCluster();
  connected = connect(cluster.admin);
});

afterAll(async () => {
  await connected[Symbol.asyncDispose]();
  await cluster.stop();
});

const namespace = "default";
let made = 0;

function aConfigMap(fields: Partial<ConfigMap> = {}): ConfigMap {
  made += 1;
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name: `c-${made}`, namespace }, ...fields };
}

async function errorOf(promise: Promise<unknown>): Promise<ApiError> {
  const error: unknown = await promise.catch((reason: unknown) => reason);
  if (error instanceof ApiError) return error;
  throw new Error("no ApiError came", { cause: error });
}

describe("reading and writing", () => {
  test("what is not there is undefined to find and notFound to get; a kind that is not served is neither", async () => {
    const ref = { name: "nobody", namespace };
    expect(await connected.client.find(configMaps, ref)).toBeUndefined();
    expect((await errorOf(connected.client.get(configMaps, ref))).class).toBe("notFound");
    for (const kind of [
      { ...configMaps, plural: "nothings" },
      { ...configMaps, group: "nowhere.example.org" },
    ]) {
      const error = await errorOf(connected.client.find(kind, ref));
      expect(error).toMatchObject({ class: "notFound", reason: "KindNotServed" });
    }
  });

  test("an object that exists is not created again, and one that does not exist is not deleted", async () => {
    const { client } = connected;
    const configMap = aConfigMap({ data: { a: "1" } });
    const created = await client.createIfAbsent(configMaps, configMap);
    expect(created?.data).toEqual({ a: "1" });
    expect(await client.createIfAbsent(configMaps, { ...configMap, data: { a: "2" } })).toBeUndefined();
    const { metadata } = await client.get(configMaps, configMap.metadata);
    expect(metadata.resourceVersion).toBe(created?.metadata.resourceVersion);
    const ofAnother = { preconditions: { uid: "00000000-0000-0000-0000-000000000000" } };
    const skipped = client.deleteIfPresent(configMaps, metadata, { ...ofAnother, skipIfChanged: true });
    expect(await skipped).toBe(false);
    expect((await errorOf(client.deleteIfPresent(configMaps, metadata, ofAnother))).class).toBe("conflict");
    const exactly = { preconditions: { uid: metadata.uid, resourceVersion: metadata.resourceVersion } };
    expect(await client.deleteIfPresent(configMaps, metadata, exactly)).toBe(true);
    expect(await client.deleteIfPresent(configMaps, metadata, exactly)).toBe(false);
  });

  test("strings beyond a limit come empty from a read and from a watch, and short ones whole", async () => {
    const long = Buffer.alloc(300_000, "x").toString("base64");
    const metadata = { name: "large", namespace };
    const data = { "a.pem": long, "b.pem": "c2hvcnQ=" };
    await connected.client.create(secrets, { apiVersion: "v1", kind: "Secret", metadata, data });
    const want = { "a.pem": "", "b.pem": "c2hvcnQ=" };
    expect(await connected.client.find(secrets, metadata, { textLimitBytes: 512 })).toMatchObject({
      data: want,
    });
    const whole = await connected.client.get(secrets, metadata);
    expect(whole).toMatchObject({ data });
    const system = realSystem();
    await using pool = new InformerPool({ transport: connected.transport, system });
    const projection = { name: "short", project: (object: Live) => object, textLimitBytes: 512 };
    const handle = pool.acquire({ kind: secrets, namespace, projection });
    await handle.synced;
    expect(handle.store.get(metadata)).toMatchObject({ data: want });
    const version = whole.metadata.resourceVersion;
    expect(handle.store.get(metadata)?.metadata.resourceVersion).toBe(version);
  });

  test("a second create is alreadyExists, a stale replace is a conflict", async () => {
    const object = await connected.client.create(configMaps, aConfigMap());
    expect(
      (
        await errorOf(
          connected.client.create(
            configMaps,
            aConfigMap({ metadata: { name: object.metadata.name, namespace } }),
          ),
        )
      ).class,
    ).toBe("alreadyExists");
    const patch = { kind: "merge", body: { data: { a: "b" } } } as const;
    await connected.client.patch(configMaps, { ...object.metadata }, { patch });
    expect((await errorOf(connected.client.replace(configMaps, object))).class).toBe("conflict");
  });

  test("an unknown field is refused with its name by default", async () => {
    const object = { ...aConfigMap(), dtaa: { a: "b" } };
    const error = await errorOf(connected.client.create(configMaps, object));
    expect(error.class).toBe("invalid");
    expect(error.message).toContain("dtaa");
    expect(await connected.client.create(configMaps, object, { fieldValidation: "Ignore" })).toBeDefined();
  });

  test("a refused object comes with its causes", async () => {
    const error = await errorOf(connected.client.create(configMaps, aConfigMap({ data: { "a/b": "x" } })));
    expect(error).toMatchObject({ class: "invalid", reason: "Invalid", causes: [{ field: "data[a/b]" }] });
  });

  test("an apply conflicts with another manager unless forced, and a dry run changes nothing", async () => {
    const { client } = connected;
    const object = aConfigMap({ data: { a: "1" } });
    await client.apply(configMaps, object, { fieldManager: "one", force: false });
    const other = { ...object, data: { a: "2" } };
    const error = await errorOf(client.apply(configMaps, other, { fieldManager: "two", force: false }));
    expect(error).toMatchObject({ class: "conflict", causes: [{ reason: "FieldManagerConflict" }] });
    const dry = await client.apply(configMaps, other, { fieldManager: "two", force: true, dryRun: true });
    expect(dry.data).toEqual({ a: "2" });
    expect((await client.get(configMaps, object.metadata)).data).toEqual({ a: "1" });
    expect((await client.apply(configMaps, other, { fieldManager: "two", force: true })).data).toEqual({
      a: "2",
    });
  });

  test("a JSON patch with a failing test is refused", async () => {
    const object = await connected.client.create(configMaps, aConfigMap({ data: { a: "1" } }));
    const operations = [
      { op: "test", path: "/data/a", value: "2" },
      { op: "replace", path: "/data/a", value: "3" },
    ] as const;
    const error = await errorOf(
      connected.client.patch(configMaps, object.metadata, { patch: { kind: "json", operations } }),
    );
    expect(error.class).toBe("invalid");
  });

  test("a delete takes only the object meant", async () => {
    const { client } = connected;
    const { metadata } = await client.create(configMaps, aConfigMap());
    const error = await errorOf(
      client.delete(configMaps, metadata, { preconditions: { uid: "somebody-else" } }),
    );
    expect(error.class).toBe("conflict");
    await client.delete(configMaps, metadata, { dryRun: true });
    await client.delete(configMaps, metadata, {
      preconditions: { uid: metadata.uid ?? "" },
      propagation: "Background",
    });
    expect(await client.find(configMaps, metadata)).toBeUndefined();
    expect((await errorOf(client.delete(configMaps, metadata))).class).toBe("notFound");
  });

  test("a list comes page by page and whole", async () => {
    const { client } = connected;
    const labels = { batch: "pages" };
    for (let n = 0; n < 7; n += 1)
      await client.create(configMaps, aConfigMap({ metadata: { name: `page-${n}`, namespace, labels } }));
    const listed = await Array.fromAsync(
      client.list(configMaps, { namespace, labelSelector: "batch=pages", pageSize: 3 }),
    );
    expect(listed.map(({ metadata, kind }) => `${kind} ${metadata.name}`)).toEqual(
      Array.from({ length: 7 }, (_, n) => `ConfigMap page-${n}`),
    );
    const page = await client.listPage(configMaps, { labelSelector: "batch=pages", pageSize: 3 });
    expect(page.items).toHaveLength(3);
    expect(page.continueToken).toBeDefined();
    const later = await client.listPage(configMaps, { namespace, resourceVersion: page.resourceVersion });
    expect(Number(later.resourceVersion)).toBeGreaterThanOrEqual(Number(page.resourceVersion));
  });

  test("[faults/E10] three ways of being too large are one class", async () => {
    const of = (sizeBytes: number): ConfigMap => aConfigMap({ data: { a: "x".repeat(sizeBytes) } });
    const { kind, apiVersion } = await makeTestKind(connected);
    const thing = (sizeBytes: number) =>
      connected.client.create(kind, {
        apiVersion,
        kind: "Thing",
        metadata: { name: "big", namespace },
        spec: { a: "x".repeat(sizeBytes) },
      });
    for (const sizeBytes of [1_600_000, 2_500_000]) {
      const error = await errorOf(thing(sizeBytes));
      expect(error).toMatchObject({ class: "tooLarge", mayHaveActed: false });
    }
    expect((await errorOf(connected.client.create(configMaps, of(3_300_000)))).class).toBe("tooLarge");
  });
});

describe("subresources and other paths", () => {
  test("a token is made for a service account, and an eviction is requested", async () => {
    const { client } = connected;
    await client.create(serviceAccounts, {
      apiVersion: "v1",
      kind: "ServiceAccount",
      metadata: { name: "sub", namespace },
    });
    const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} };
    const response = await client.createSubresource(
      serviceAccounts,
      { name: "sub", namespace },
      { subresource: "token", body },
    );
    expect(response).toMatchObject({ kind: "TokenRequest" });
    const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "none", namespace } };
    const evicted = client.createSubresource(
      pods,
      { name: "none", namespace },
      { subresource: "eviction", body: eviction },
    );
    expect((await errorOf(evicted)).class).toBe("notFound");
  });

  test("a subresource is read, and raw paths give JSON or text", async () => {
    const status = await connected.client.getSubresource(
      namespaces,
      { name: "default" },
      { subresource: "status" },
    );
    expect(status).toMatchObject({ kind: "Namespace" });
    expect(await connected.client.raw({ method: "GET", path: "/version" })).toMatchObject({ major: "1" });
    expect(await connected.client.raw({ method: "GET", path: "/readyz" })).toBe("ok");
  });
});

describe("who we are", () => {
  const review = { method: "POST", path: "/apis/authentication.k8s.io/v1/selfsubjectreviews" } as const;
  const body = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };

  test("a user with groups, uid and extra", async () => {
    const identity = {
      user: "jane",
      groups: ["g1", "g2"],
      uid: "42",
      extra: { "example.org/scopes": ["a", "b"] },
    };
    const response = await connected.client.as(identity).raw({ ...review, body });
    expect(response).toMatchObject({
      status: {
        userInfo: {
          username: "jane",
          uid: "42",
          groups: ["g1", "g2", "system:authenticated"],
          extra: { "example.org/scopes": ["a", "b"] },
        },
      },
    });
    const error = await errorOf(connected.client.as({ user: "jane" }).get(secrets, { name: "x", namespace }));
    expect(error.class).toBe("forbidden");
  });

  test("[runtime/RT-26] the cluster's own kubeconfig leads to it, with impersonation where it says so", async () => {
    const system = realSystem();
    const config = await loadConfig({ system, kubeconfigPath: cluster.kubeconfigPath });
    const impersonate = { user: "from-config", groups: ["g"] };
    await using transport = createTransport({ config: { ...config, impersonate }, system });
    const client = createClient({ transport });
    expect(await client.raw({ ...review, body })).toMatchObject({
      status: { userInfo: { username: "from-config", groups: ["g", "system:authenticated"] } },
    });
    expect(await client.as({ user: "jane" }).raw({ ...review, body })).toMatchObject({
      status: { userInfo: { username: "jane", groups: ["system:authenticated"] } },
    });
  });

  test("[runtime/RT-26] watches are made as the one whom the kubeconfig names too", async () => {
    const system = realSystem();
    const config = await loadConfig({ system, kubeconfigPath: cluster.kubeconfigPath });
    const impersonate = { user: "without-rights" };
    await using transport = createTransport({ config: { ...config, impersonate }, system });
    const trouble = Promise.withResolvers<unknown>();
    const observer = { stateChanged: ({ error }: { error: unknown }) => error && trouble.resolve(error) };
    await using pool = new InformerPool({ transport, system, observer });
    pool.acquire({ kind: secrets, namespace });
    expect(await trouble.promise).toMatchObject({ class: "forbidden" });
  });
});

describe("what the server offers", () => {
  test("kinds are found by apiVersion or plural, also one that came later", async () => {
    const discovery = new Discovery(connected.transport, realSystem());
    expect(await discovery.find({ apiVersion: "v1", kind: "ConfigMap" })).toMatchObject({
      plural: "configmaps",
      scope: "Namespaced",
      shortNames: ["cm"],
    });
    expect(await discovery.findResource({ group: "apps", plural: "deployments" })).toMatchObject({
      kind: "Deployment",
      subresources: ["scale", "status"],
    });
    const { apiVersion } = await makeTestKind(connected);
    discovery.invalidate();
    let found: string | undefined;
    for (let observation = 0; observation < 50 && found === undefined; observation += 1) {
      found = await discovery.find({ apiVersion, kind: "Thing" }).then(
        ({ plural }) => plural,
        () => undefined,
      );
      await realSystem().sleep(200);
    }
    expect(found).toBe("things");
    const error = await errorOf(discovery.find({ apiVersion: "apps/v1", kind: "Nothing" }));
    expect(error).toMatchObject({ class: "notFound", reason: "KindNotServed" });
  });

  test("OpenAPI documents are read once per content", async () => {
    const requests: string[] = [];
    await using watched = connect({
      ...cluster.admin,
      observe: ({ verb, code }) => requests.push(`${verb} ${code}`),
    });
    const openApi = new OpenApi(watched.client);
    expect(await openApi.paths()).toContain("apis/apps/v1");
    const document = await openApi.document("apps/v1");
    expect(document).toMatchObject({ openapi: "3.0.0" });
    openApi.invalidate();
    expect(await openApi.document("apps/v1")).toBe(document);
    expect(requests).toHaveLength(3);
    expect((await errorOf(openApi.document("nothing/v1"))).class).toBe("notFound");
  });
});

describe("[runtime/RT-31] secrets in objects stay out of errors", () => {
  const canary = "canary-4f1c9e27b3";
  const ref = { name: "s", namespace };
  const secret = { apiVersion: "v1", kind: "Secret", metadata: ref };

  /** Everything of an error that could be printed. */
  function printed(error: unknown): string {
    const parts: unknown[] = [];
    for (let at: unknown = error; at instanceof Error; at = at.cause) {
      parts.push(
        at.message,
        at.stack,
        JSON.stringify(at),
        JSON.stringify(Object.getOwnPropertyDescriptors(at)),
      );
    }
    return parts.join("\n");
  }

  const type = "kubernetes.io/dockerconfigjson";
  const base64 = Buffer.from(canary).toString("base64");
  const attempts = [
    { name: "a key that is not allowed", object: { ...secret, stringData: { "not/allowed": canary } } },
    { name: "data that is no base64", object: { ...secret, data: { a: `${canary}*` } } },
    {
      name: "a type whose data must be JSON",
      object: { ...secret, type, data: { ".dockerconfigjson": base64 } },
    },
    { name: "a field no one knows", object: { ...secret, [canary]: canary } },
    { name: "a value of the wrong type", object: { ...secret, data: { a: { [canary]: canary } } as never } },
  ];
  test.each(attempts)("create with $name", async ({ object }) => {
    const error = await errorOf(connected.client.create(secrets, object));
    expect(["invalid", "bug"]).toContain(error.class);
    expect(printed(error)).not.toMatch(/canary-4f1c9e27b3|Y2FuYXJ5/);
  });

  test("apply, patch and raw requests of Secrets that are refused", async () => {
    const { client } = connected;
    const bad = { ...secret, data: { a: `${canary}*` } };
    const patch = { kind: "merge", body: { data: { a: `${canary}*` } } } as const;
    const path = `/api/v1/namespaces/${namespace}/secrets`;
    const errors = await Promise.all([
      errorOf(client.apply(secrets, bad, { fieldManager: "m", force: true })),
      errorOf(client.patch(secrets, ref, { patch })),
      errorOf(client.raw({ method: "POST", path, body: bad })),
    ]);
    for (const error of errors) expect(printed(error)).not.toContain(canary);
  });

  test("a token that is refused", async () => {
    await using wrong = connect({ ...cluster.admin, token: canary });
    const error = await errorOf(wrong.client.get(namespaces, { name: "default" }));
    expect(error.class).toBe("unauthorized");
    expect(printed(error)).not.toContain(canary);
  });
});
