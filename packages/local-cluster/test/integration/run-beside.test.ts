import { existsSync, mkdtempDisposableSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, test } from "vitest";

import { claimDirectory } from "../../src/cluster/claim-directory.ts";
import { destroyCluster } from "../../src/cluster/destroy-cluster.ts";
import { measureUsage } from "../../src/cluster/local-cluster.ts";
import { runBeside } from "../../src/cluster/run-beside.ts";
import { realSystem } from "../../src/system/system.ts";
import { eventually } from "./eventually.ts";

function temporary(): ReturnType<typeof mkdtempDisposableSync> {
  return mkdtempDisposableSync(join(tmpdir(), "qm-beside-"));
}

function claimedIn(parent: string): string {
  const directory = join(parent, "cluster");
  claimDirectory(directory);
  return directory;
}

test("a process beside the cluster is on record, is started once, and ends with the cluster", async () => {
  using parent = temporary();
  const directory = claimedIn(parent.path);
  const companion = {
    name: "helper",
    command: "sh",
    args: ["-c", "echo $WORD; exec sleep 600"],
    env: { WORD: "hi" },
  };
  const first = runBeside(directory, companion);
  await eventually(
    () =>
      measureUsage(directory).length > 0 && readFileSync(first.logPath, "utf8") === "hi\n" ? true : undefined,
    () => readFileSync(first.logPath, "utf8"),
  );
  const second = runBeside(directory, companion);
  expect([first.wasRunning, second.wasRunning, second.isRunning()]).toEqual([false, true, true]);
  expect(measureUsage(directory).map(({ name }) => name)).toEqual(["helper"]);

  await destroyCluster(directory, realSystem);
  expect([first.isRunning(), second.isRunning(), existsSync(directory)]).toEqual([false, false, false]);
});

test("a process that ended is started again", async () => {
  using parent = temporary();
  const directory = claimedIn(parent.path);
  const first = runBeside(directory, { name: "helper", command: "true" });
  await eventually(
    () => (first.isRunning() ? undefined : true),
    () => "it runs",
  );
  const second = runBeside(directory, { name: "helper", command: "sleep", args: ["600"] });
  expect([second.wasRunning, second.isRunning()]).toEqual([false, true]);
  await destroyCluster(directory, realSystem);
});

test("where there is no cluster nothing is started", () => {
  using parent = temporary();
  const directory = parent.path;
  expect(() => runBeside(directory, { name: "helper", command: "sleep", args: ["600"] })).toThrow(
    `There is no cluster in ${directory}.`,
  );
  expect(existsSync(join(directory, "pids"))).toBe(false);
});
