import { realpathSync } from "node:fs";
import { dirname, join } from "node:path";

import { installPlan } from "@quartermaster/api";
import { eventually, hasRealNodes, type LocalCluster, startLocalCluster } from "@quartermaster/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { conditionOf } from "../support/conditions.ts";
import { operateAlone } from "../support/own-cluster.ts";
import { aPlan } from "../support/plans.ts";

const namespace = "default";

describe.runIf(hasRealNodes())("jobs on a real node", () => {
  let cluster: LocalCluster;

  beforeAll(async () => {
    cluster = await startLocalCluster({ nodes: 1 });
  });

  afterAll(async () => {
    await cluster.stop();
  });

  test("[install-plan/59] a job that needs a permission its account lacks fails by its own means, and the plan says so", async () => {
    await using operator = await operateAlone(cluster);
    const { client } = operator;
    const rules = "create,get,delete";
    await cluster.kubectl(["create", "role", "jobs", `--verb=${rules}`, "--resource=jobs.batch"]);
    await cluster.kubectl([
      "create",
      "rolebinding",
      "jobs",
      "--role=jobs",
      `--serviceaccount=${namespace}:installer`,
    ]);
    // The image has no client that speaks TLS as the server does; the cluster's own kubectl does.
    const tools = dirname(realpathSync(join(cluster.folder, "bin", "kubectl")));
    const container = {
      name: "ask",
      image: "quartermaster.local/busybox:1",
      command: ["/tools/kubectl", "get", "secrets"],
      volumeMounts: [{ name: "tools", mountPath: "/tools" }],
    };
    const volumes = [{ name: "tools", hostPath: { path: tools } }];
    const pod = { restartPolicy: "Never", containers: [container], volumes };
    const jobs = [{ name: "ask", template: { backoffLimit: 0, template: { spec: pod } } }];
    const { apiVersion, kind } = aPlan("p");
    const spec = {
      serviceAccountName: "installer",
      stages: [{ name: "s", jobs }],
      retry: { initialSeconds: 600, maxSeconds: 600 },
    };
    await client.create(installPlan.kind, {
      apiVersion,
      kind,
      metadata: { name: "p", namespace },
      spec,
    } as never);
    const status = await eventually(
      async (see) => {
        const found = await client.get(installPlan.kind, { namespace, name: "p" });
        see(found.status);
        return found.status?.phase === "Failed" ? found.status : undefined;
      },
      { withinMs: 60_000 },
    );
    expect(conditionOf(status, "Stalled")).toMatchObject({ status: "True", reason: "JobFailed" });
    const { stdout } = await cluster.kubectl(["logs", `job/${status.jobs?.[0]?.jobName ?? ""}`]);
    expect(stdout).toContain("Forbidden");
  });
});
