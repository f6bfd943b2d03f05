import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { type } from "../support/user.ts";

let directory: string;
const sample = join(import.meta.dirname, "../../../../config/samples/opensearch.yaml");

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "qm-search-"));
  await writeFile(join(directory, "before.json"), JSON.stringify(aCluster({ replicas: 3 })));
});

afterAll(async () => {
  await rm(directory, { recursive: true });
});

function aCluster(
  pool: object = {},
  { status, general = {} }: { readonly status?: object; readonly general?: object } = {},
): object {
  return {
    apiVersion: "opensearch.org/v1",
    kind: "OpenSearchCluster",
    metadata: { name: "logs", namespace: "team", generation: 2 },
    spec: {
      general: { serviceName: "logs", version: "2.19.4", ...general },
      nodePools: [
        { component: "nodes", replicas: 3, diskSize: "1Gi", roles: ["cluster_manager", "data"], ...pool },
      ],
    },
    ...(status === undefined ? {} : { status }),
  };
}

describe("qm search plan without a cluster", () => {
  test("the sample would create a pool of three", async () => {
    const { code, out } = await type(["search", "plan", "-f", sample, "--from", "none"]);
    expect({ code, out }).toEqual({
      code: 0,
      out: "OpenSearchCluster search/logs: what the operator would do:\n  pool nodes is created with 3 nodes: logs-nodes-0, logs-nodes-1, logs-nodes-2",
    });
  });

  test.each([
    {
      name: "more nodes",
      pool: { replicas: 4 },
      code: 0,
      want: "pool nodes grows from 3 to 4 nodes: logs-nodes-3",
    },
    {
      name: "fewer nodes",
      pool: { replicas: 2 },
      code: 0,
      want: "pool nodes shrinks from 3 to 2 nodes\n  drained and removed, one at a time: logs-nodes-2",
    },
    {
      name: "another heap",
      pool: { jvm: "-Xmx1g" },
      code: 0,
      want: "restarted, one at a time: logs-nodes-2, logs-nodes-1, logs-nodes-0",
    },
    {
      name: "another disk",
      pool: { diskSize: "2Gi" },
      code: 3,
      want: "OperationNotSupportedYet: pool nodes keeps its volumes",
    },
    {
      name: "an unknown role",
      pool: { roles: ["boss"] },
      code: 1,
      want: "spec.nodePools[0].roles[0] is not a role",
    },
    { name: "nothing", pool: {}, code: 0, want: "no node is added, removed or restarted" },
  ])("$name", async ({ pool, code, want }) => {
    const args = ["search", "plan", "-f", "-", "--from", join(directory, "before.json")];
    const output = await type(args, { input: JSON.stringify(aCluster(pool)) });
    expect(output.out).toContain(want);
    expect(output.code).toBe(code);
  });

  test("[first-use/13] warns about two managers and about another address", async () => {
    const args = ["search", "plan", "-f", "-", "--from", join(directory, "before.json")];
    const input = JSON.stringify(aCluster({ replicas: 2 }, { general: { serviceName: "search" } }));
    const { out, code } = await type(args, { input });
    expect(out).toContain("Warning: Two nodes can be elected as manager");
    expect(out).toContain("Warning: The address of the cluster changes from logs.team to search.team");
    expect(code).toBe(0);
  });

  test("programs get the same as JSON", async () => {
    const args = ["search", "plan", "-f", "-", "--from", join(directory, "before.json"), "-o", "json"];
    const { out } = await type(args, { input: JSON.stringify(aCluster({ replicas: 4, jvm: "-Xmx1g" })) });
    expect(JSON.parse(out)).toMatchObject({
      issues: [],
      pools: [{ pool: "nodes", change: "grows", added: ["logs-nodes-3"], outdated: { length: 3 } }],
      restarts: { length: 3 },
      held: [],
    });
  });

  test.each([
    { name: "no file", args: ["-n", "team"], input: "", code: 2, want: "required flag --file not set" },
    {
      name: "no cluster in it",
      args: ["-f", "-"],
      input: "kind: Pod\napiVersion: v1",
      code: 4,
      want: "no OpenSearchCluster",
    },
    {
      name: "a field that there is not",
      args: ["-f", "-"],
      input: JSON.stringify(aCluster({ diskSzie: "1Gi" })),
      code: 1,
      want: "diskSzie",
    },
    {
      name: "two clusters",
      args: ["-f", "-"],
      input: `${JSON.stringify(aCluster())}\n---\n${JSON.stringify(aCluster())}`,
      code: 1,
      want: "several search clusters",
    },
    {
      name: "another cluster before",
      args: ["-f", "-", "--from", sample],
      input: JSON.stringify({ ...aCluster(), metadata: { name: "metrics" } }),
      code: 1,
      want: "different clusters",
    },
  ])("$name is said", async ({ args, input, code, want }) => {
    const output = await type(["search", "plan", ...args], { input });
    expect(output.err).toContain(want);
    expect(output.code).toBe(code);
  });
});

describe("qm search explain from a file", () => {
  const ready = (is: string, reason: string): object => ({
    conditions: [
      {
        type: "Ready",
        status: is,
        reason,
        message: `It says ${reason}.`,
        lastTransitionTime: "2026-01-01T00:00:00Z",
      },
    ],
  });
  test.each([
    {
      name: "no status",
      status: undefined,
      code: 3,
      want: ["has not been looked at yet", "--domains has search"],
    },
    {
      name: "an edit that no one has looked at",
      status: { observedGeneration: 1 },
      code: 3,
      want: ["The last edit of OpenSearchCluster team/logs has not been looked at"],
    },
    {
      name: "all well",
      status: { observedGeneration: 2, health: "green", ...ready("True", "Settled") },
      code: 0,
      want: ["is as declared, health green."],
    },
    {
      name: "yellow",
      status: { observedGeneration: 2, health: "yellow", ...ready("True", "Settled") },
      code: 0,
      want: ["health yellow", "next: wait, add data nodes"],
    },
    {
      name: "blockers",
      status: {
        observedGeneration: 2,
        ...ready("False", "MemberMissing"),
        blockers: [
          {
            lane: "nodes",
            rule: "memberMissing",
            reason: "MemberMissing",
            message: "logs-nodes-2 is not ready.",
            actor: "kubelet",
          },
          {
            lane: "certificates",
            rule: "foreign",
            reason: "SecretConflict",
            message: "logs-ca is taken.",
            actor: "user",
          },
        ],
      },
      code: 3,
      want: [
        "MemberMissing: logs-nodes-2 is not ready.\n    next: Kubernetes starts",
        "SecretConflict: logs-ca is taken.\n    next: you: remove or rename the Secret",
      ],
    },
    {
      name: "a condition alone",
      status: { observedGeneration: 2, ...ready("False", "InvalidSpec") },
      code: 3,
      want: ["InvalidSpec: It says InvalidSpec.\n    next: you: correct the fields"],
    },
  ])("$name", async ({ status, code, want }) => {
    const input = JSON.stringify(status === undefined ? aCluster() : aCluster({}, { status }));
    const output = await type(["search", "explain", "-f", "-"], { input });
    for (const args of want) expect(output.out).toContain(args);
    expect(output.code).toBe(code);
  });

  test("what a tenant writes does not steer the terminal", async () => {
    const status = {
      observedGeneration: 2,
      blockers: [
        { lane: "nodes", rule: "r", reason: "MemberMissing", message: "\u001b[2J gone", actor: "kubelet" },
      ],
    };
    const { out } = await type(["search", "explain", "-f", "-"], {
      input: JSON.stringify(aCluster({}, { status })),
    });
    expect(out).toContain("gone");
    expect(out).not.toContain("\u001b");
  });

  test("a cluster or a file, not both", async () => {
    expect(await type(["search", "explain", "logs", "-f", "-"])).toMatchObject({ code: 2 });
  });
});
