import { realpathSync } from "node:fs";
import { dirname, join } from "node:path";

import { installPlan, type InstallPlan } from "@quartermaster/api";
import {
  type Connection,
  eventually,
  hasRealNodes,
  type LocalCluster,
  startLocalCluster,
} from "@quartermaster/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { conditionOf } from "../support/conditions.ts";
import { makeAdministrator, operateAlone } from "../support/own-cluster.ts";
import { aPlan } from "../support/plans.ts";

const namespace = "default";

describe.runIf(hasRealNodes())("pods on a real node", () => {
  let cluster: LocalCluster;
  let operator: Connection;

  beforeAll(async () => {
    cluster = await startLocalCluster({ nodes: 1 });
    operator = await operateAlone(cluster);
  });

  afterAll(async () => {
    await operator[Symbol.asyncDispose]();
    await cluster.stop();
  });

  test("[install-plan/59] a job that needs a permission its account lacks fails by its own means, and the plan says so", async () => {
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
    const tools = dirname(realpathSync(join(cluster.directory, "bin", "kubectl")));
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

  test("[first-use/10] a rollout that does not progress names the image and the exit code that its pods report", async () => {
    await makeAdministrator(operator);
    const busybox = "quartermaster.local/busybox:1";
    await createPlan("web-1", [deployment("web", { image: busybox, command: ["sleep", "3600"] })]);
    await statusOnce("web-1", ({ phase }) => phase === "Installed");
    await createPlan(
      "web-2",
      [
        deployment("web", { image: "nowhere.invalid/web:2" }),
        deployment("crash", { image: busybox, command: ["sh", "-c", "exit 3"] }),
      ],
      { replaces: { plans: [{ name: "web-1" }] } },
    );
    const { details, message } = await statusOnce("web-2", (status) => {
      const output = (status.details ?? []).map(({ reason }) => reason);
      return output.includes("ImagePullBackOff") && output.includes("CrashLoopBackOff");
    });
    expect(message).toMatch(
      /the image nowhere\.invalid\/web:2 of container main cannot be pulled\. 1 of 2 replicas available/,
    );
    expect(details?.map((detail) => detail.message).join(" ")).toContain("container main exited with code 3");
  });

  async function createPlan(name: string, manifests: readonly object[], more: object = {}): Promise<void> {
    const stages = [{ name: "s", resources: manifests.map((manifest) => ({ manifest })) }];
    const spec = { serviceAccountName: "installer", stages, ...more };
    const { apiVersion, kind } = aPlan(name);
    await operator.client.create(installPlan.kind, {
      apiVersion,
      kind,
      metadata: { name, namespace },
      spec,
    } as never);
  }

  async function statusOnce(name: string, demand: (status: Status) => boolean): Promise<Status> {
    return await eventually(
      async (see) => {
        const { status } = await operator.client.get(installPlan.kind, { namespace, name });
        return see(status) !== undefined && demand(status ?? {}) ? status : undefined;
      },
      { withinMs: 90_000 },
    );
  }
});

type Status = NonNullable<InstallPlan["status"]>;

function deployment(name: string, container: object): object {
  const labels = { app: name };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name },
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { terminationGracePeriodSeconds: 0, containers: [{ name: "main", ...container }] },
      },
    },
  };
}
