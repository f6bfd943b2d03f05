import { defineKind, type Kind } from "@quartermaster/runtime";
import { describe, expect, test } from "vitest";

import { conditionOf } from "../support/conditions.ts";
import { claims, pods, roleBindings } from "../support/kinds.ts";
import { aClaim, inline } from "../support/manifests.ts";
import { setUpWorkbench, type Workbench } from "../support/workbench.ts";

const services: Kind = defineKind({
  group: "",
  version: "v1",
  kind: "Service",
  plural: "services",
  scope: "Namespaced",
});
const rbac = "rbac.authorization.k8s.io";

function role(name: string): object {
  const rules = [{ apiGroups: [""], resources: ["configmaps"], verbs: ["get"] }];
  return inline({ apiVersion: `${rbac}/v1`, kind: "Role", metadata: { name }, rules });
}

const ways = { lifecycle: { onImmutable: "Recreate" }, readiness: { mode: "Ignore" } };

/** A binding, a Service and a Pod, each with a field that cannot be changed. */
function kinds({ namespace }: Workbench, name: string, clusterIP: object = {}): readonly object[] {
  const roleRef = { apiGroup: rbac, kind: "Role", name };
  const subjects = [{ kind: "ServiceAccount", name: "default", namespace }];
  const containers = [{ name: "main", image: "nowhere.invalid/a:1", command: [name] }];
  return [
    { apiVersion: `${rbac}/v1`, kind: "RoleBinding", metadata: { name: "bound" }, roleRef, subjects },
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "web" },
      spec: { ...clusterIP, ports: [{ port: 80 }] },
    },
    { apiVersion: "v1", kind: "Pod", metadata: { name: "bare" }, spec: { containers } },
  ].map((object) => inline(object, ways));
}

describe("fields that cannot be changed, and a plan that may make objects again", () => {
  test("[install-plan/38] bindings, Services and Pods are made again as Deployments are", async () => {
    await using bench = await setUpWorkbench();
    const roles = [role("one"), role("two")];
    const first = [...roles, ...kinds(bench, "one")];
    await bench.create(bench.plan("a", [{ name: "s", resources: first }]));
    await bench.installed("a");
    const second = [...roles, ...kinds(bench, "two", { clusterIP: "None" })];
    const replaces = { plans: [{ name: "a" }] };
    await bench.create(bench.plan("b", [{ name: "s", resources: second }], { replaces }));
    const { status } = await bench.installed("b");
    expect(status?.preview).toMatchObject({ recreate: 3, takeover: 2 });
    const { namespace } = bench;
    expect(await bench.client.get(roleBindings, { namespace, name: "bound" })).toMatchObject({
      roleRef: { name: "two" },
    });
    expect(await bench.client.get(services, { namespace, name: "web" })).toMatchObject({
      spec: { clusterIP: "None" },
    });
    expect(await bench.client.get(pods, { namespace, name: "bare" })).toMatchObject({
      spec: { containers: [{ command: ["two"] }] },
    });
  });

  test("a volume claim is not made again while its data is protected", async () => {
    await using bench = await setUpWorkbench();
    await bench.create(bench.plan("a", [{ name: "s", resources: [inline(aClaim("data"), ways)] }]));
    await bench.installed("a");
    const { namespace } = bench;
    const before = await bench.client.get(claims, { namespace, name: "data" });
    const spec = { accessModes: ["ReadWriteMany"], resources: { requests: { storage: "1Gi" } } };
    const changed = inline({ ...aClaim("data"), spec }, ways);
    const replaces = { plans: [{ name: "a" }] };
    await bench.create(bench.plan("b", [{ name: "s", resources: [changed] }], { replaces }));
    const { status } = await bench.inPhase("b", "Invalid");
    expect(conditionOf(status, "Validated")?.reason).toBe("ImmutableField");
    const after = await bench.client.get(claims, { namespace, name: "data" });
    expect([after.metadata.uid, after.metadata.deletionTimestamp]).toEqual([before.metadata.uid, undefined]);
  });
});
