import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { readDeclaration } from "@quartermaster/search/offline";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { searchStatusText } from "../../src/render/search-status.ts";
import { type } from "../support/user.ts";

let directory: string;

const auto = {
  mode: "Auto",
  minReplicas: 2,
  maxReplicas: 6,
  metrics: [{ type: "Cpu", target: 60 }],
};

const status = {
  autoscaling: {
    pools: [
      {
        pool: "data",
        mode: "Auto",
        current: 5,
        target: 5,
        recommendation: 3,
        limitedBy: ["Cooldown", "ScaleDownRefused"],
        message: "logs-data-4 is not removed: no room.",
      },
      { pool: "managers", mode: "Recommend", current: 3, recommendation: 3 },
    ],
  },
  nodePools: [{ component: "data", target: 5 }],
};

function aCluster(autoscaling: object | undefined, replicas = 3, more: object = {}): object {
  return {
    apiVersion: "opensearch.org/v1",
    kind: "OpenSearchCluster",
    metadata: { name: "logs", namespace: "team", generation: 2 },
    spec: {
      general: { serviceName: "logs", version: "2.19.4" },
      nodePools: [
        { component: "managers", replicas: 3, roles: ["cluster_manager"] },
        {
          component: "data",
          replicas,
          roles: ["data"],
          ...(autoscaling === undefined ? {} : { autoscaling }),
        },
      ],
    },
    ...more,
  };
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "qm-scaling-"));
  await writeFile(join(directory, "before.json"), JSON.stringify(aCluster(auto, 3, { status })));
});

afterAll(async () => {
  await rm(directory, { recursive: true });
});

async function plan(object: object): Promise<string> {
  const args = ["search", "plan", "-f", "-", "--from", join(directory, "before.json")];
  return (await type(args, { input: JSON.stringify(object) })).out;
}

describe("qm search plan", () => {
  test("[search/SC-93] replicas that are applied again change nothing, and the response of auto-scaling is told", async () => {
    expect(await plan(aCluster(auto, 3))).toBe(
      "OpenSearchCluster team/logs: no node is added, removed or restarted.\n" +
        "auto-scaling decides how many nodes pool data has, 2 to 6; the load requires 3 nodes (Cooldown: the last change was too short a while ago; ScaleDownRefused: the rest of the cluster cannot do without the node).",
    );
  });

  test.each([
    { name: "off again", autoscaling: { ...auto, mode: "Off" }, want: "pool data shrinks from 5 to 3 nodes" },
    {
      name: "a lower limit",
      autoscaling: { ...auto, maxReplicas: 4 },
      want: "pool data shrinks from 5 to 4 nodes",
    },
    {
      name: "Recommend",
      autoscaling: { ...auto, mode: "Recommend" },
      want: "auto-scaling recommends a number of nodes for pool data and changes nothing; the load requires 3 nodes",
    },
    {
      name: "limits that cannot be",
      autoscaling: { ...auto, minReplicas: 9 },
      want: "InvalidSpec: spec.nodePools[1].autoscaling.minReplicas",
    },
  ])("$name", async ({ autoscaling, want }) => {
    expect(await plan(aCluster(autoscaling))).toContain(want);
  });

  test("a status in the file itself is no one's word", async () => {
    const forged = aCluster(auto, 3, {
      status: { autoscaling: { pools: [{ pool: "data", mode: "Auto", target: 2 }] } },
    });
    expect(await plan(forged)).toContain("no node is added, removed or restarted");
  });
});

describe("qm search status", () => {
  test("shows mode, target, recommendation and what holds it back", () => {
    const read = readDeclaration(aCluster(auto, 3, { status }));
    if (read.kind !== "read") throw new Error(JSON.stringify(read));
    const text = searchStatusText(read.object, (_tone, args) => args);
    const section = text.slice(text.indexOf("auto-scaling\n")).split("\n\n")[0];
    expect(section?.split("\n").map((line) => line.trim().replaceAll(/ {2,}/g, "  "))).toEqual([
      "auto-scaling",
      "NAME  MODE  CURRENT  TARGET  RECOMMENDED  LIMITED BY",
      "data  Auto  5  5  3  Cooldown,ScaleDownRefused",
      "managers  Recommend  3  -  3  -",
      "data: Cooldown: the last change was too short a while ago; ScaleDownRefused: the rest of the cluster cannot do without the node",
      "data: logs-data-4 is not removed: no room.",
    ]);
  });
});
