import { defineKind, type Kind } from "@quartermaster/runtime";
import { describe, expect, test } from "vitest";

import { namespaces } from "../support/kinds.ts";
import { configMap } from "../support/manifests.ts";
import { setUpWorkbench } from "../support/workbench.ts";

const pods: Kind = defineKind({ group: "", version: "v1", kind: "Pod", plural: "pods", scope: "Namespaced" });

const container = { name: "main", image: "nowhere.invalid/a:1" };

function jobOf(pod: object): object {
  const containers = [container];
  return {
    name: "job",
    timeoutSeconds: 3,
    template: { backoffLimit: 0, template: { spec: { restartPolicy: "Never", containers, ...pod } } },
  };
}

describe("jobs that want more than they may", () => {
  test.each([
    { name: "privileged", pod: { containers: [{ ...container, securityContext: { privileged: true } }] } },
    { name: "with a directory of the node", pod: { volumes: [{ name: "root", hostPath: { path: "/" } }] } },
    { name: "in the network of the node", pod: { hostNetwork: true } },
  ])("[security/20] a job $name gets no pod where pods are restricted", async ({ pod }) => {
    await using bench = await setUpWorkbench();
    const labels = { "pod-security.kubernetes.io/enforce": "restricted" };
    await bench.client.patch(
      namespaces,
      { name: bench.namespace },
      {
        patch: { kind: "merge", body: { metadata: { labels } } },
      },
    );
    const stages = [
      { name: "a", resources: [configMap("a")], jobs: [jobOf(pod)] },
      { name: "b", resources: [configMap("b")] },
    ];
    await bench.create(bench.plan("p", stages));
    const { status } = await bench.inPhase("p", "Failed");
    expect(status?.jobs?.[0]?.state).toMatch(/Failed|TimedOut/);
    const { items } = await bench.client.listPage(pods, { namespace: bench.namespace });
    expect(items).toEqual([]);
    expect(status?.states?.[1]).toBe("-");
  });

  test("[security/20] a job under another account than the plan's is refused before anything is written", async () => {
    await using bench = await setUpWorkbench();
    const position = await bench.audit.position();
    const job = jobOf({ serviceAccountName: "node-agent" });
    await bench.create(bench.plan("p", [{ name: "a", resources: [configMap("a")], jobs: [job] }]));
    const { status } = await bench.inPhase("p", "Invalid");
    expect(status?.message).toContain("serviceAccountName");
    expect(await bench.writes(position)).toEqual([]);
  });
});
