import { once } from "node:events";
import { readFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { text } from "node:stream/consumers";

import { eventually, WRITING_VERBS } from "@quartermaster/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";

import { type HttpResponse, type InjectionBench, startInjection } from "../support/replica.ts";
import { removeMounts } from "../support/sidecar-webhook.ts";

const generations = "subscription.openshift.io/bundle-generations";
const admission = "/apis/admissionregistration.k8s.io/v1";
const annotations = { "inject-bundle": "local" };
const value = "dmFsdWUtb2YtdGhlLXNlY3JldA";

let bench: InjectionBench;

beforeAll(async () => {
  bench = await startInjection();
  await bench.cluster.api.apply(`/api/v1/namespaces/${bench.namespace}/secrets/s1`, {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "s1" },
    stringData: { "a.pem": value },
  });
  await bench.bundle("local", { entitlements: [{ name: "s1" }] });
});
afterAll(async () => {
  await bench[Symbol.asyncDispose]();
});

interface Policy {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: object;
}

/** Puts a shipped policy in force for the namespace of this file. */
async function enforce(file: string): Promise<void> {
  const url = new URL(`../../../../config/policy/${file}`, import.meta.url);
  for (const document of parseAllDocuments(await readFile(url, "utf8"))) {
    const { kind, metadata, spec } = document.toJS() as Policy;
    const name = `${metadata.name}-${bench.unique}`;
    const namespaceSelector = { matchLabels: { "kubernetes.io/metadata.name": bench.namespace } };
    const isBinding = kind.endsWith("Binding");
    const plural = isBinding ? "validatingadmissionpolicybindings" : "validatingadmissionpolicies";
    await bench.cluster.api.apply(`${admission}/${plural}/${name}`, {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind,
      metadata: { name },
      spec: isBinding ? { ...spec, policyName: name, matchResources: { namespaceSelector } } : spec,
    });
  }
}

async function patch(path: string, body: object): Promise<HttpResponse> {
  const contentType = "application/merge-patch+json";
  const response = await bench.cluster.api.send({ method: "PATCH", path, body, contentType });
  return { status: response.status, object: JSON.parse(response.body) as HttpResponse["object"] };
}

function mountNames({ object }: HttpResponse): readonly string[] {
  const mounts = object.spec?.containers?.flatMap(({ volumeMounts = [] }) => volumeMounts) ?? [];
  return mounts.map((mount) => String(Reflect.get(mount, "name")));
}

describe("ways around the webhook", () => {
  test("[security/34] no label of a namespace excludes it: it is selected by its name", async () => {
    const path = `/api/v1/namespaces/${bench.namespace}`;
    const labels = {
      "openshift.io/run-level": "0",
      "admission.gatekeeper.sh/ignore": "true",
      "subscription.openshift.io/inject": "disabled",
      "control-plane": "controller-manager",
    };
    expect((await patch(path, { metadata: { labels } })).status).toBe(200);
    // The label that counts is the API server's: whatever is written there becomes the name again.
    const nameLabel = "kubernetes.io/metadata.name";
    await patch(path, { metadata: { labels: { [nameLabel]: "kube-system" } } });
    const { labels: now } = (await bench.send("GET", path)).object.metadata as {
      readonly labels?: Readonly<Record<string, string>>;
    };
    expect(now?.[nameLabel]).toBe(bench.namespace);
    const { status, object } = await bench.pod("labelled", { annotations, dryRun: true });
    expect(status, object.message).toBe(201);
    expect(object.metadata?.annotations?.[generations]).toBe('{"bundles":{"local":1}}');
    const configuration = `${admission}/mutatingwebhookconfigurations/quartermaster-subscription-${bench.namespace}`;
    const { webhooks } = (await bench.send("GET", configuration)).object as unknown as {
      webhooks: readonly { namespaceSelector: { matchExpressions: readonly { key: string }[] } }[];
    };
    const keys = webhooks.flatMap(({ namespaceSelector }) => namespaceSelector.matchExpressions);
    expect(new Set(keys.map(({ key }) => key))).toEqual(new Set(["kubernetes.io/metadata.name"]));
    // A client that changes the configuration itself is undone, and this series shows it until then.
    expect(await bench.metrics()).toMatch(
      /_cabundle_in_sync\{configuration="quartermaster-subscription-[^}]*\} 1/,
    );
  });

  test("[security/35] other doors of a pod carry no mounts", async () => {
    const path = `/api/v1/namespaces/${bench.namespace}/pods/side`;
    const spec = { automountServiceAccountToken: false };
    expect((await bench.pod("side", { spec })).status).toBe(201);
    const volume = { name: "etc-pki-entitlement", secret: { secretName: "s1" } };
    const mounted = {
      spec: {
        volumes: [volume],
        containers: [
          {
            name: "main",
            volumeMounts: [{ name: volume.name, mountPath: "/run/secrets/etc-pki-entitlement" }],
          },
        ],
      },
    };
    for (const door of ["/resize", "/status", ""]) {
      const strategic = "application/strategic-merge-patch+json";
      await bench.cluster.api.send({
        method: "PATCH",
        path: `${path}${door}`,
        body: mounted,
        contentType: strategic,
      });
      const now = await bench.send("GET", path);
      expect({ door, mounts: mountNames(now), volumes: now.object.spec?.volumes ?? [] }).toEqual({
        door,
        mounts: [],
        volumes: [],
      });
    }
    // Eviction and binding have no place for a pod's spec; ephemeral containers reach the webhook: AC-E6.
    const eviction = {
      apiVersion: "policy/v1",
      kind: "Eviction",
      metadata: { name: "side" },
      spec: mounted.spec,
    };
    await bench.send("POST", `${path}/eviction?dryRun=All`, eviction);
    expect(mountNames(await bench.send("GET", path))).toEqual([]);
  });

  test("[security/32] what was injected is not rewritten by a status, a resize or a binding", async () => {
    await enforce("subscription-generations.yaml");
    const path = `/api/v1/namespaces/${bench.namespace}/pods`;
    expect((await bench.pod("fixed", { annotations })).status).toBe(201);
    const forged = { metadata: { annotations: { [generations]: '{"bundles":{"local":9}}' } } };
    for (const door of ["", "/status"]) {
      const refused = await eventually(async (see) => {
        const response = see(await patch(`${path}/fixed${door}?dryRun=All`, forged));
        return response.status === 200 ? undefined : response;
      });
      expect(refused.object.message, door).toContain("cannot be changed");
    }
    const binding = {
      apiVersion: "v1",
      kind: "Binding",
      metadata: { name: "fixed", annotations: forged.metadata.annotations },
      target: { kind: "Node", name: "none" },
    };
    const bound = await bench.send("POST", `${path}/fixed/binding?dryRun=All`, binding);
    expect(bound.object.message).toContain("cannot be changed");
    expect((await bench.send("GET", `${path}/fixed`)).object.metadata?.annotations?.[generations]).toBe(
      '{"bundles":{"local":1}}',
    );
  });
});

describe("another webhook that removes our mounts", () => {
  test("[security/37] is undone when we are called again", async () => {
    await using stack = new AsyncDisposableStack();
    stack.use(await removeMounts(bench, "Never"));
    const response = await bench.pod("undone", { annotations, dryRun: true });
    expect(response.status, response.object.message).toBe(201);
    expect(mountNames(response)).toContain("etc-pki-entitlement");
  });

  test("[security/37] and is called again too: the final policy refuses the pod", async () => {
    await using stack = new AsyncDisposableStack();
    stack.use(await removeMounts(bench, "IfNeeded"));
    await enforce("subscription-injected-pods.yaml");
    const refused = await eventually(async (see) => {
      const response = see(await bench.pod("stripped", { annotations, dryRun: true }));
      return response.status === 201 ? undefined : response;
    });
    expect(refused.object.message).toContain("not every container mounts it");
  });
});

test("[security/44] a forged review learns no value and nothing about ClusterBundles, and changes nothing", async () => {
  const position = await bench.cluster.audit.position();
  await bench.clusterBundle(bench.unique, { entitlements: [{ name: "s1", namespace: bench.namespace }] });
  const query = async (given: object): Promise<string> => {
    const body = JSON.stringify({
      apiVersion: "admission.k8s.io/v1",
      kind: "AdmissionReview",
      request: {
        uid: "forged",
        kind: { group: "", version: "v1", kind: "Pod" },
        resource: { group: "", version: "v1", resource: "pods" },
        operation: "CREATE",
        namespace: bench.namespace,
        userInfo: { username: "system:admin", groups: ["system:masters"] },
        object: { metadata: { annotations: given }, spec: { containers: [{ name: "main" }] } },
      },
    });
    const sent = request({
      host: "127.0.0.1",
      port: bench.port,
      path: "/subscription/pods",
      method: "POST",
      rejectUnauthorized: false,
      headers: { "content-type": "application/json", "content-length": Buffer.byteLength(body) },
    });
    sent.end(body);
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    return await text(response);
  };
  const injected = await query({ "subscription.openshift.io/inject-bundle": "local" });
  expect(injected).toContain('"allowed":true');
  expect(injected).not.toContain(value);
  expect(injected).not.toContain(Buffer.from(value).toString("base64"));
  // Who asks is not who counts: the pod's account does, and it may use none.
  const inject = (name: string) => ({ "subscription.openshift.io/inject-cluster-bundle": name });
  const present = await query(inject(bench.unique));
  const absent = await query(inject(`${bench.unique}x`));
  expect(present.replaceAll(bench.unique, "b")).toBe(absent.replaceAll(`${bench.unique}x`, "b"));
  const writes = await bench.cluster.audit.since(position, {
    user: bench.operator,
    verbs: [...WRITING_VERBS],
  });
  const reviews = new Set(["subjectaccessreviews"]);
  const others = writes.filter(
    ({ resource, subresource, namespace }) =>
      !reviews.has(resource) && subresource !== "status" && namespace === bench.namespace,
  );
  expect(others).toEqual([]);
});
