import { describe, expect, test } from "vitest";

import { conditionOf } from "../support/conditions.ts";
import { configMaps, deployments, endpointSlices, webhookConfigurations } from "../support/kinds.ts";
import { configMap, inline } from "../support/manifests.ts";
import { removing } from "../support/removing.ts";
import { registerWebhook } from "../support/webhook.ts";
import { allPermissions, setUpWorkbench, type Workbench } from "../support/workbench.ts";

async function exists(bench: Workbench, name: string): Promise<boolean> {
  return (await bench.client.find(configMaps, { namespace: bench.namespace, name })) !== undefined;
}

describe("objects that the server would not take", () => {
  test("[install-plan/30] one invalid object of five keeps all of them from being written", async () => {
    await using bench = await setUpWorkbench();
    const position = await bench.audit.position();
    const service = {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "bad" },
      spec: { ports: [{ port: 99_999 }] },
    };
    const resources = [configMap("a"), configMap("b"), inline(service), configMap("c"), configMap("d")];
    await bench.create(bench.plan("p", [{ name: "s", resources }]));
    const { status } = await bench.inPhase("p", "Invalid");
    expect(conditionOf(status, "Validated")).toMatchObject({ status: "False", reason: "Rejected" });
    expect(status?.message).toContain("resource 2, spec.ports[0].port");
    expect(await bench.writes(position)).toEqual([]);
  });

  test.each(["two", "2"])(
    "[first-use/15] replicas as the text %s get a sentence that is true of it",
    async (replicas) => {
      await using bench = await setUpWorkbench();
      const web = deploymentOf(bench, { app: "a" });
      await bench.create(
        bench.plan("p", [{ name: "s", resources: [inline({ ...web, spec: { ...web.spec, replicas } })] }]),
      );
      const { status } = await bench.inPhase("p", "Invalid");
      expect(status?.message).toContain("spec.replicas: must be a number, in digits and without quotes");
    },
  );

  test("a field that the schema does not know is refused and not dropped", async () => {
    await using bench = await setUpWorkbench();
    const position = await bench.audit.position();
    const manifest = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c" }, dota: { a: "1" } };
    await bench.create(bench.plan("p", [{ name: "s", resources: [configMap("a"), inline(manifest)] }]));
    const { status } = await bench.inPhase("p", "Invalid");
    expect(status?.message).toContain("dota: is not a field of this kind");
    expect(await bench.writes(position)).toEqual([]);
  });

  test("messages say what to do about values of a wrong type and kinds that are not served", async () => {
    await using bench = await setUpWorkbench();
    const { namespace } = bench;
    const pin = 4711;
    const numbers = [
      { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c" }, data: { count: 3 } },
      { apiVersion: "v1", kind: "Secret", metadata: { name: "s" }, type: pin },
    ];
    const old = { ...deploymentOf(bench, { app: "a" }), apiVersion: "apps/v1beta1" };
    await bench.create(
      bench.plan("typed", [{ name: "s", resources: numbers.map((object) => inline(object)) }]),
    );
    await bench.create(bench.plan("old", [{ name: "s", resources: [inline(old)] }]));
    const { status } = await bench.inPhase("typed", "Invalid");
    expect(status?.message).toContain(
      `data.count: ConfigMap ${namespace}/c was rejected: data.count: must be a string; put the value in quotes`,
    );
    expect(status?.message).toContain("type: has the wrong type");
    expect(JSON.stringify(status)).not.toContain(String(pin));
    const { status: ofOld } = await bench.inPhase("old", "Invalid");
    expect(ofOld?.message).toContain(
      "the kind Deployment of apps/v1beta1 is not served; did you mean apps/v1?",
    );
  });

  test.each([
    {
      name: "a ClusterRole",
      manifest: { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", metadata: { name: "r" } },
      text: "is cluster-scoped; set scope: Cluster",
    },
    {
      name: "another namespace",
      manifest: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c", namespace: "default" } },
      text: "set scope: Cluster on the plan",
    },
  ])("[install-plan/34] $name is outside a plan of one namespace", async ({ manifest, text }) => {
    await using bench = await setUpWorkbench({ clusterRules: [allPermissions] });
    const position = await bench.audit.position();
    await bench.create(bench.plan("p", [{ name: "s", resources: [configMap("a"), inline(manifest)] }]));
    const { status } = await bench.inPhase("p", "Invalid");
    expect(status?.message).toContain(text);
    expect(await bench.writes(position)).toEqual([]);
  });
});

describe("webhooks", () => {
  test("[install-plan/31] a webhook that denies one object keeps all from being written", async () => {
    await using bench = await setUpWorkbench();
    await using webhook = await registerWebhook(bench, ({ name }) =>
      name === "bad" ? { kind: "deny", message: "no bad things on Mondays" } : { kind: "allow" },
    );
    await webhook.listen();
    const position = await bench.audit.position();
    const resources = [configMap("good"), configMap("bad")];
    await bench.create(bench.plan("p", [{ name: "s", resources }]));
    const { status } = await bench.inPhase("p", "Invalid");
    expect(status?.message).toContain("no bad things on Mondays");
    expect(await bench.writes(position)).toEqual([]);
    await bench.client.delete(webhookConfigurations, { name: bench.namespace });
    await bench.installed("p", 8_000);
  });

  test("[install-plan/32] a webhook that is down is waited for, and the plan continues when it is up", async () => {
    await using bench = await setUpWorkbench();
    await using webhook = await registerWebhook(bench, () => ({ kind: "allow" }));
    const position = await bench.audit.position();
    await bench.create(bench.plan("p", [{ name: "s", timeoutSeconds: 2, resources: [configMap("c")] }]));
    const early = await bench.until("p", ({ phase }) => phase === "Validating");
    expect(conditionOf(early.status, "Reconciling")).toMatchObject({ status: "True", reason: "Retrying" });
    const late = await bench.inPhase("p", "Failed");
    expect(conditionOf(late.status, "Stalled")).toMatchObject({ status: "True", reason: "Timeout" });
    expect(await bench.writes(position)).toEqual([]);
    await webhook.listen();
    await bench.installed("p");
  });

  test("[install-plan/33] a stage waits until the Service of its webhook has endpoints", async () => {
    await using bench = await setUpWorkbench({ clusterRules: [allPermissions] });
    const { namespace, client } = bench;
    bench.use(removing(client, webhookConfigurations, { name: namespace }));
    await bench.create(
      bench.plan(
        "p",
        [
          { name: "hook", resources: [inline(serviceOf("hook")), inline(webhookOf(namespace))] },
          { name: "next", resources: [configMap("next")] },
        ],
        { scope: "Cluster" },
      ),
    );
    const waiting = await bench.until("p", ({ states }) => states?.[0] === "RP");
    expect(waiting.status?.message).toContain(`Service ${namespace}/hook of the webhook has no endpoints`);
    expect(await exists(bench, "next")).toBe(false);
    await client.create(endpointSlices, sliceOf(namespace, "hook"));
    await bench.installed("p");
    expect(await exists(bench, "next")).toBe(true);
  });
});

describe("fields that cannot be changed", () => {
  test("[install-plan/37] a changed selector is refused with its field, and the object stays", async () => {
    await using bench = await setUpWorkbench();
    const before = await bench.client.create(deployments, deploymentOf(bench, { app: "old" }));
    const position = await bench.audit.position();
    const resources = [configMap("a"), inline(deploymentOf(bench, { app: "new" }))];
    await bench.create(bench.plan("p", [{ name: "s", resources }], adopting));
    const { status } = await bench.inPhase("p", "Invalid");
    expect(conditionOf(status, "Stalled")?.reason).toBe("ImmutableField");
    expect(status?.message).toContain(
      "was rejected: spec.selector: field is immutable. In a new plan, set lifecycle.onImmutable: Recreate",
    );
    expect(await bench.writes(position)).toEqual([]);
    const after = await bench.client.get(deployments, before.metadata);
    expect(after.metadata.uid).toBe(before.metadata.uid);
  });

  test("[install-plan/38] with Recreate only that object is deleted and made again", async () => {
    await using bench = await setUpWorkbench();
    const before = await bench.client.create(deployments, deploymentOf(bench, { app: "old" }));
    const neighbour = await bench.client.create(deployments, {
      ...deploymentOf(bench, { app: "neighbour" }),
      metadata: { name: "neighbour", namespace: bench.namespace },
    });
    const position = await bench.audit.position();
    const resources = [
      inline(deploymentOf(bench, { app: "new" })),
      inline({ ...deploymentOf(bench, { app: "neighbour" }), metadata: { name: "neighbour" } }),
    ];
    const lifecycle = { adoption: "IfUnowned", onImmutable: "Recreate" };
    await bench.create(bench.plan("p", [{ name: "s", resources }], { lifecycle: lifecycle }));
    const { status } = await bench.installed("p");
    expect(status?.preview).toMatchObject({ recreate: 1, adopt: 1 });
    const after = await bench.client.get(deployments, before.metadata);
    expect(after.metadata.uid).not.toBe(before.metadata.uid);
    expect(after).toMatchObject({ spec: { selector: { matchLabels: { app: "new" } } } });
    const kept = await bench.client.get(deployments, neighbour.metadata);
    expect(kept.metadata.uid).toBe(neighbour.metadata.uid);
    const deletes = (await bench.writes(position)).filter(({ verb }) => verb === "delete");
    expect(deletes.map(({ name }) => name)).toEqual(["web"]);
  });

  test("[install-plan/39] with Recreate an object that would be invalid does not cost the live one", async () => {
    await using bench = await setUpWorkbench();
    const before = await bench.client.create(deployments, deploymentOf(bench, { app: "old" }));
    const position = await bench.audit.position();
    const broken = deploymentOf(bench, { app: "new" }, { app: "does-not-match" });
    const lifecycle = { adoption: "IfUnowned", onImmutable: "Recreate" };
    await bench.create(
      bench.plan("p", [{ name: "s", resources: [inline(broken)] }], { lifecycle: lifecycle }),
    );
    await bench.inPhase("p", "Invalid");
    expect(await bench.writes(position)).toEqual([]);
    const after = await bench.client.get(deployments, before.metadata);
    expect(after.metadata.uid).toBe(before.metadata.uid);
  });
});

const adopting = { lifecycle: { adoption: "IfUnowned" } };

function deploymentOf(
  { namespace }: Workbench,
  matchLabels: Readonly<Record<string, string>>,
  labels: Readonly<Record<string, string>> = matchLabels,
) {
  const containers = [{ name: "main", image: "nowhere.invalid/a:1" }];
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web", namespace },
    spec: {
      replicas: 1,
      selector: { matchLabels },
      template: { metadata: { labels }, spec: { containers } },
    },
  };
}

function serviceOf(name: string) {
  return { apiVersion: "v1", kind: "Service", metadata: { name }, spec: { ports: [{ port: 443 }] } };
}

/** Asked about the ConfigMap of the next stage; no one answers at the Service's address, and no one minds. */
function webhookOf(namespace: string) {
  const rule = { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] };
  return {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingWebhookConfiguration",
    metadata: { name: namespace },
    webhooks: [
      {
        name: "configmaps.example.com",
        clientConfig: { service: { namespace, name: "hook" } },
        rules: [rule],
        namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } },
        admissionReviewVersions: ["v1"],
        sideEffects: "None",
        failurePolicy: "Ignore",
        timeoutSeconds: 1,
      },
    ],
  };
}

function sliceOf(namespace: string, service: string) {
  return {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { name: `${service}-1`, namespace, labels: { "kubernetes.io/service-name": service } },
    addressType: "IPv4",
    endpoints: [{ addresses: ["192.0.2.1"], conditions: { ready: true } }],
    ports: [{ name: "", port: 443 }],
  };
}
