import { eventually } from "@quartermaster/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { type InjectionBench, startInjection } from "../support/replica.ts";

const [ePath, rPath] = ["/run/secrets/etc-pki-entitlement", "/run/secrets"];
const generations = "subscription.openshift.io/bundle-generations";

let bench: InjectionBench;

beforeAll(async () => {
  bench = await startInjection();
  await bench.secret("s1", "a.pem");
  await bench.secret("s2", "b.pem");
  await bench.secret("s3", "a.pem");
  await bench.configMap("r1", "redhat.repo");
  await bench.configMap("r2", "driver.repo");
  await bench.bundle("plain", { entitlements: [{ name: "s1" }] });
  await bench.bundle("local", { entitlements: [{ name: "s1" }], yumRepositories: [{ name: "r1" }] });
  await bench.bundle("driver", { entitlements: [{ name: "s2" }], yumRepositories: [{ name: "r2" }] });
  await bench.bundle("clash", { entitlements: [{ name: "s3" }] });
  await bench.bundle("lost", { entitlements: [{ name: "nowhere" }] });
  await bench.bundle("crossing", { entitlements: [{ name: "s1", namespace: "kube-system" }] });
});
afterAll(async () => {
  await bench[Symbol.asyncDispose]();
});

const named = (names: string) => ({ "inject-bundle": names });
const noToken = { automountServiceAccountToken: false };

describe("the pod webhook behind the API server", () => {
  test("[subscription-injection/AC-A2] injects an entitlement and records the generation", async () => {
    const { status, object } = await bench.pod("a2", { annotations: named("plain") });
    expect(status, object.message).toBe(201);
    expect(object.spec?.volumes).toContainEqual({
      name: "etc-pki-entitlement",
      projected: { sources: [{ secret: { name: "s1" } }], defaultMode: 420 },
    });
    expect(object.spec?.containers?.[0]?.volumeMounts).toContainEqual({
      name: "etc-pki-entitlement",
      mountPath: ePath,
    });
    expect(object.metadata?.annotations?.[generations]).toBe('{"bundles":{"plain":1}}');
  });

  test("[subscription-injection/AC-A3,AC-D10] gives the seed's volumes and mounts to a pod that has none", async () => {
    const { status, object } = await bench.pod("a3", { annotations: named("local,driver"), spec: noToken });
    expect(status, object.message).toBe(201);
    expect(object.spec?.volumes).toEqual([
      {
        name: "yum-repo",
        projected: {
          sources: [{ configMap: { name: "r1" } }, { configMap: { name: "r2" } }],
          defaultMode: 420,
        },
      },
      {
        name: "etc-pki-entitlement",
        projected: { sources: [{ secret: { name: "s1" } }, { secret: { name: "s2" } }], defaultMode: 420 },
      },
    ]);
    expect(object.spec?.containers?.[0]?.volumeMounts).toEqual([
      { name: "yum-repo", mountPath: rPath },
      { name: "etc-pki-entitlement", mountPath: ePath },
    ]);
  });

  test.each([
    { id: "AC-A5", names: "nope", code: 403, says: 'BundleNotFound: Bundle "nope" not found in namespace' },
    {
      id: "AC-A8",
      names: "plain,clash",
      code: 403,
      says: 'key "a.pem" is provided by bundles "plain" and "clash"',
    },
    { id: "AC-A23", names: "Not_A_Name", code: 400, says: "InvalidAnnotation" },
    { id: "AC-E14", names: "crossing", code: 403, says: "CrossNamespaceReference" },
    { id: "AC-E15", names: "lost", code: 403, says: 'ReferenceNotFound: Secret "nowhere" of Bundle "lost"' },
  ])("[subscription-injection/$id] refuses $names with $code", async ({ names, code, says }) => {
    const { status, object } = await bench.pod("refused", { annotations: named(names), dryRun: true });
    expect(status).toBe(code);
    expect(object.message).toContain(says);
  });

  test("[subscription-injection/AC-A16] a Deployment's pod is injected in the namespace of the request", async () => {
    const template = {
      metadata: {
        labels: { app: "web" },
        annotations: { "subscription.openshift.io/inject-bundle": "plain" },
      },
      spec: { containers: [{ name: "main", image: "registry.invalid/ubi" }] },
    };
    await bench.send("POST", `/apis/apps/v1/namespaces/${bench.namespace}/deployments`, {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "web" },
      spec: { selector: { matchLabels: { app: "web" } }, template },
    });
    const path = `/api/v1/namespaces/${bench.namespace}/pods?labelSelector=app%3Dweb`;
    const pod = await eventually(async (see) => {
      const { object } = see(await bench.send("GET", path));
      return (object as unknown as { items?: readonly object[] }).items?.[0];
    });
    expect(pod).toMatchObject({ metadata: { annotations: { [generations]: '{"bundles":{"plain":1}}' } } });
  });

  test("[subscription-injection/AC-D5] with the token mounted, repositories are files and the server takes them", async () => {
    const { status, object } = await bench.pod("d5", { annotations: named("local") });
    expect(status, object.message).toBe(201);
    const paths = (object.spec?.containers?.[0]?.volumeMounts ?? []).map((mount) =>
      String(Reflect.get(mount, "mountPath")),
    );
    expect(paths).toEqual(
      expect.arrayContaining([
        `${rPath}/redhat.repo`,
        ePath,
        "/var/run/secrets/kubernetes.io/serviceaccount",
      ]),
    );
    expect(paths).not.toContain(rPath);
  });

  test("[subscription-injection/AC-D15] the dump of an injected pod is accepted again, with one set of volumes", async () => {
    await bench.pod("dumped", { annotations: named("local") });
    const path = `/api/v1/namespaces/${bench.namespace}/pods`;
    const { object } = await bench.send("GET", `${path}/dumped`);
    const again = {
      ...object,
      metadata: { name: "dumped-again", annotations: object.metadata?.annotations },
      status: undefined,
    };
    const response = await bench.send("POST", path, again);
    expect(response.status, response.object.message).toBe(201);
    expect(response.object.spec?.volumes).toEqual(object.spec?.volumes);
  });

  test("[subscription-injection/AC-E6] a debug container gets the directory", async () => {
    await bench.pod("e6", { annotations: named("plain") });
    const response = await bench.cluster.api.send({
      method: "PATCH",
      path: `/api/v1/namespaces/${bench.namespace}/pods/e6/ephemeralcontainers`,
      contentType: "application/strategic-merge-patch+json",
      body: { spec: { ephemeralContainers: [{ name: "debug", image: "registry.invalid/ubi" }] } },
    });
    expect(response.status, response.body).toBe(200);
    const { spec } = JSON.parse(response.body) as {
      spec: { ephemeralContainers: readonly { volumeMounts?: readonly object[] }[] };
    };
    expect(spec.ephemeralContainers[0]?.volumeMounts).toEqual([
      { name: "etc-pki-entitlement", mountPath: ePath },
    ]);
  });

  test("[subscription-injection/AC-E17] a bundle made right before the pod is found", async () => {
    for (const at of [1, 2, 3]) {
      await bench.bundle(`fresh-${at}`, { entitlements: [{ name: "s1" }] });
      const { status, object } = await bench.pod(`e17-${at}`, {
        annotations: named(`fresh-${at}`),
        dryRun: true,
      });
      expect(status, object.message).toBe(201);
    }
  });

  test("[subscription-injection/AC-E4] [security/49] a dry run gives the same patch and leaves no event", async () => {
    const pod = { annotations: named("local,driver"), spec: noToken };
    const made = await bench.pod("wet", pod);
    const tried = await bench.pod("dry", { ...pod, dryRun: true });
    const injected = ({ object: { metadata, spec } }: typeof made) => ({
      annotations: metadata?.annotations,
      volumes: spec?.volumes,
      containers: spec?.containers,
    });
    expect(injected(tried)).toEqual(injected(made));
    expect(tried.object.metadata?.annotations?.[generations]).toBe('{"bundles":{"driver":1,"local":1}}');
    const events = await bench.send("GET", `/apis/events.k8s.io/v1/namespaces/${bench.namespace}/events`);
    expect(JSON.stringify(events.object)).not.toContain('"name":"dry"');
  });

  test("[subscription-injection/AC-E18] an annotation on the Deployment itself does nothing", async () => {
    const { status, object } = await bench.send(
      "POST",
      `/apis/apps/v1/namespaces/${bench.namespace}/deployments?dryRun=All`,
      {
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: { name: "outer", annotations: { "subscription.openshift.io/inject-bundle": "nope" } },
        spec: {
          selector: { matchLabels: { app: "o" } },
          template: { metadata: { labels: { app: "o" } }, spec: { containers: [{ name: "c", image: "i" }] } },
        },
      },
    );
    expect(status, object.message).toBe(201);
  });

  test("[subscription-injection/AC-D14] a forged record is removed from a pod that names no bundle", async () => {
    const { object } = await bench.pod("forged", {
      annotations: { "bundle-generations": "forged" },
      dryRun: true,
    });
    expect(object.metadata?.annotations?.[generations]).toBeUndefined();
  });

  test("[subscription-injection/AC-C1,AC-F17] [security/120] a labelled bundle reaches pods without annotations, except system-critical ones, until the label goes", async () => {
    const spec = { entitlements: [{ name: "s2" }] };
    await bench.bundle("always", spec, { "subscription.openshift.io/always-inject": "true" });
    const recordOf = async (): Promise<string | undefined> =>
      (await bench.pod("c1", { dryRun: true })).object.metadata?.annotations?.[generations];
    await eventually(async (see) => see(await recordOf()) === '{"bundles":{"always":1}}', {
      withinMs: 30_000,
    });
    // Network plugins and volume drivers must not wait for what only they can bring.
    const critical = { spec: { priorityClassName: "system-node-critical" }, dryRun: true };
    const started = await bench.pod("critical", critical);
    expect([started.status, started.object.metadata?.annotations?.[generations]]).toEqual([201, undefined]);
    await bench.cluster.api.send({
      method: "PATCH",
      path: `/apis/subscription.openshift.io/v1alpha1/namespaces/${bench.namespace}/bundles/always`,
      contentType: "application/merge-patch+json",
      body: { metadata: { labels: { "subscription.openshift.io/always-inject": null } } },
    });
    const path = `/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/quartermaster-subscription-${bench.namespace}-auto`;
    const registered = async (): Promise<unknown> =>
      ((await bench.send("GET", path)).object as { readonly webhooks?: readonly object[] }).webhooks;
    await eventually(async (see) => see(await registered()) === undefined, { withinMs: 30_000 });
    expect(await recordOf()).toBeUndefined();
  });

  test("[security/127] a key added to one always-injected Secret keeps no unannotated pod from starting", async () => {
    const label = { "subscription.openshift.io/always-inject": "true" };
    await bench.secret("auto1", "one.pem");
    await bench.secret("auto2", "two.pem");
    await bench.bundle("auto1", { entitlements: [{ name: "auto1" }] }, label);
    await bench.bundle("auto2", { entitlements: [{ name: "auto2" }] }, label);
    const recordOf = async (): Promise<string | undefined> => {
      const { status, object } = await bench.pod("c2", { dryRun: true });
      expect(status, object.message).toBe(201);
      return object.metadata?.annotations?.[generations];
    };
    const both = '{"bundles":{"auto1":1,"auto2":1}}';
    await eventually(async (see) => see(await recordOf()) === both, { withinMs: 30_000 });
    await bench.secret("auto2", "one.pem", "two.pem");
    await eventually(async (see) => see(await recordOf()) === '{"bundles":{"auto1":1}}', {
      withinMs: 60_000,
    });
    const path = `/apis/subscription.openshift.io/v1alpha1/namespaces/${bench.namespace}/bundles`;
    for (const name of ["auto1", "auto2"])
      await eventually(async (see) =>
        /"type":"KeyConflict","status":"True"|"status":"True","type":"KeyConflict"/.test(
          see((await bench.cluster.api.send({ path: `${path}/${name}` })).body),
        ),
      );
    const refused = await bench.pod("c3", { annotations: named("auto1,auto2"), dryRun: true });
    expect(refused.status).toBe(403);
    expect(refused.object.message).toContain("EntitlementKeyConflict");
    for (const name of ["auto1", "auto2"]) await bench.send("DELETE", `${path}/${name}`);
  });

  test("[subscription-injection/AC-A17,AC-A18] new pods follow a bundle that is changed and deleted, old ones stay", async () => {
    const path = `/apis/subscription.openshift.io/v1alpha1/namespaces/${bench.namespace}/bundles/changing`;
    const annotations = named("changing");
    await bench.bundle("changing", { entitlements: [{ name: "s1" }] });
    await bench.pod("old", { annotations });
    await bench.cluster.api.send({
      method: "PATCH",
      path,
      contentType: "application/merge-patch+json",
      body: { spec: { entitlements: [{ name: "s2" }] } },
    });
    const changed = await eventually(async (see) => {
      const { object } = see(await bench.pod("new", { annotations, dryRun: true }));
      return object.metadata?.annotations?.[generations] === '{"bundles":{"changing":2}}'
        ? object
        : undefined;
    });
    expect(JSON.stringify(changed.spec?.volumes)).toContain('"secret":{"name":"s2"}');
    await bench.send("DELETE", path);
    await eventually(async (see) => {
      const { object } = see(await bench.pod("new", { annotations, dryRun: true }));
      return object.message?.includes("BundleNotFound");
    });
    const { object } = await bench.send("GET", `/api/v1/namespaces/${bench.namespace}/pods/old`);
    expect(object.metadata?.annotations?.[generations]).toBe('{"bundles":{"changing":1}}');
    expect(JSON.stringify(object.spec?.volumes)).toContain('"secret":{"name":"s1"}');
  });

  test("counts what was decided, without names of objects", async () => {
    const page = await bench.metrics();
    expect(page).toMatch(
      /quartermaster_subscription_injection_requests_total\{result="injected",scope="Bundle",reason="none"\} [1-9]/,
    );
    expect(page).toMatch(/reason="BundleNotFound"\} [1-9]/);
    expect(page).not.toContain("no-such-bundle");
  });

  test("keys of objects that pods use often are watched: a conflict counts immediately, and no Secret is listed", async () => {
    await bench.secret("w1", "w1.pem");
    await bench.secret("w2", "w2.pem");
    await bench.bundle("w1", { entitlements: [{ name: "w1" }] });
    await bench.bundle("w2", { entitlements: [{ name: "w2" }] });
    const position = await bench.cluster.audit.position();
    const request = async () => await bench.pod("often", { annotations: named("w1,w2"), dryRun: true });
    for (let use = 0; use < 3; use += 1) expect((await request()).status).toBe(201);
    await eventually(async (see) =>
      /_key_index_entries\{by="watch"\} [1-9]/.test(see(await bench.metrics())),
    );
    await bench.secret("w2", "w1.pem");
    // Keys that were read, not watched, would be believed for 30 s.
    await eventually(async (see) => see(await request()).object.message?.includes('"w1.pem"'), {
      withinMs: 10_000,
    });
    const entries = await bench.cluster.audit.since(position, { user: bench.operator, resource: "secrets" });
    expect(entries.filter(({ verb }) => verb === "list")).toEqual([]);
  });

  test("[faults/46] an entitlement that is lost: new pods are rejected with the reason, running ones stay as they are", async () => {
    await bench.secret("lost", "lost.pem");
    await bench.bundle("losing", { entitlements: [{ name: "lost" }] });
    const { status, object } = await bench.pod("runs", { annotations: named("losing") });
    expect(status, object.message).toBe(201);
    const core = `/api/v1/namespaces/${bench.namespace}`;
    const path = `/apis/subscription.openshift.io/v1alpha1/namespaces/${bench.namespace}/bundles/losing`;
    const conditions = async (): Promise<string> => JSON.stringify(await bench.send("GET", path));
    await eventually(
      async (see) =>
        see(await conditions()).includes('"type":"Ready","status":"True"') ||
        see(await conditions()).includes('"status":"True","type":"Ready"'),
    );
    expect((await bench.send("DELETE", `${core}/secrets/lost`)).status).toBe(200);
    await eventually(async (see) => see(await conditions()).includes("ReferenceNotFound"), {
      withinMs: 5_000,
    });
    const refused = await eventually(async () => {
      const response = await bench.pod("starts", { annotations: named("losing"), dryRun: true });
      return response.status === 201 ? undefined : response;
    });
    expect(refused.object.message).toContain("losing");
    expect(refused.object.message).toContain("lost");
    const running = await bench.send("GET", `${core}/pods/runs`);
    expect(running.object.metadata).toMatchObject({ name: "runs" });
    expect(running.object.spec?.volumes).toEqual(object.spec?.volumes);
    await bench.secret("lost", "lost.pem");
    await eventually(
      async () => (await bench.pod("again", { annotations: named("losing"), dryRun: true })).status === 201,
    );
  });
});
