import type { ObjectRef } from "@quartermaster/runtime";
import { pods } from "@quartermaster/runtime/kinds";
import { type AuditEntry, type AuditPosition, eventually } from "@quartermaster/testkit";
import { expect, test } from "vitest";

import { inline } from "../support/manifests.ts";
import { setUpWorkbench, type Workbench } from "../support/workbench.ts";

const image = "nowhere.invalid/web:2";

/** No node takes its pods: what a kubelet would report is written by the test. */
function deployment(): object {
  const labels = { app: "web" };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web" },
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { nodeSelector: { "example.com/none": "yes" }, containers: [{ name: "main", image }] },
      },
    },
  };
}

async function podOf(bench: Workbench): Promise<ObjectRef> {
  const { client, namespace } = bench;
  const found = await eventually(async () => {
    const { items } = await client.listPage(pods, { namespace, labelSelector: "app=web" });
    return items.find(({ metadata }) => metadata.deletionTimestamp === undefined);
  });
  return found.metadata;
}

async function reportImage(bench: Workbench, pod: ObjectRef): Promise<void> {
  const state = { waiting: { reason: "ErrImagePull", message: "no such host" } };
  const containerStatuses = [{ name: "main", image, imageID: "", ready: false, restartCount: 0, state }];
  const body = { status: { phase: "Pending", containerStatuses } };
  await bench.client.patch(pods, pod, { subresource: "status", patch: { kind: "merge", body } });
}

async function podReads(bench: Workbench, position: AuditPosition): Promise<readonly AuditEntry[]> {
  const entries = await bench.audit.since(position, { resource: "pods" });
  return entries.filter(({ user }) => user === bench.operator);
}

test("[first-use/10] a plan names the cause that a pod of its workload reports, read as its account", async () => {
  await using bench = await setUpWorkbench();
  const position = await bench.audit.position();
  await bench.create(bench.plan("p", [{ name: "s", resources: [inline(deployment())] }]));
  const pending = await bench.until("p", ({ message = "" }) => message.includes("cannot be scheduled"));
  expect(pending.status).toMatchObject({ phase: "Applying", details: [{ reason: "Unschedulable" }] });
  const pod = await podOf(bench);
  await reportImage(bench, pod);
  const { status } = await bench.until("p", ({ message = "" }) => message.includes("cannot be pulled"));
  expect(status?.message).toContain(
    `Pod ${pod.name}: the image ${image} of container main cannot be pulled.`,
  );
  expect(status?.details).toMatchObject([{ state: "InProgress", reason: "ImagePullBackOff" }]);
  const reads = await podReads(bench, position);
  expect(new Set(reads.map(({ verb, impersonatedUser }) => `${verb} ${impersonatedUser}`))).toEqual(
    new Set([`list system:serviceaccount:${bench.namespace}:installer`]),
  );
});

test("[first-use/10] where the account may not read pods, the plan says what the workload itself says, and which permission is missing", async () => {
  const rules = [{ apiGroups: ["apps"], resources: ["deployments"], verbs: ["*"] }];
  await using bench = await setUpWorkbench({ rules });
  const position = await bench.audit.position();
  await bench.create(bench.plan("p", [{ name: "s", resources: [inline(deployment())] }]));
  await eventually(async () => (await podReads(bench, position)).some(({ code }) => code === 403));
  const { status } = await bench.until("p", ({ message = "" }) => message.includes("0 of 1"));
  await bench.until("p", ({ message = "" }) =>
    message.includes("To see why, let the service account list pods."),
  );
  expect(status?.details).toMatchObject([{ state: "InProgress", reason: "ReplicasMissing" }]);
});

test("a quota that refuses the pods is named", async () => {
  await using bench = await setUpWorkbench();
  const { api, namespace } = bench;
  const quota = {
    apiVersion: "v1",
    kind: "ResourceQuota",
    metadata: { name: "no-pods", namespace },
    spec: { hard: { pods: "0" } },
  };
  await api.apply(`/api/v1/namespaces/${namespace}/resourcequotas/no-pods`, quota);
  await eventually(async (see) => {
    const { body } = await api.send({ path: `/api/v1/namespaces/${namespace}/resourcequotas/no-pods` });
    return see(body).includes('"used":{"pods":"0"}');
  });
  await bench.create(bench.plan("p", [{ name: "s", resources: [inline(deployment())] }]));
  const { status } = await bench.until("p", ({ message = "" }) => message.includes("quota"));
  expect(status?.message).toContain("exceeded quota: no-pods");
  expect(status?.details).toMatchObject([{ reason: "ReplicaFailure" }]);
});
