import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { describe, expect, test } from "vitest";

import { ApiClient } from "../../src/api/api-client.ts";
import { startLocalCluster } from "../../src/index.ts";
import { endRecorded, identifyProcess } from "../../src/process/process-identity.ts";
import { realSystem } from "../../src/system/system.ts";
import { eventually } from "./eventually.ts";
import { processesMentioning } from "./processes.ts";

interface Launched {
  readonly directory: string;
  readonly pids: readonly number[];
  readonly launcherPid: number;
  readonly guardianPid: number;
}

/** A directory for clusters that no other test looks at. */
function clustersDirectory(): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), "qm-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

/** Starts a cluster in a process of its own, as a user's program would. */
async function launchElsewhere(parent: string): Promise<Launched> {
  const script = fileURLToPath(import.meta.resolve("./launcher.ts"));
  const child = spawn(process.execPath, [script, parent], { stdio: ["ignore", "pipe", "inherit"] });
  const line = await new Promise<string>((resolve, reject) => {
    child.stdout.once("data", (chunk: Buffer) => resolve(chunk.toString()));
    child.once("exit", (code) => reject(new Error(`the launcher ended with ${code}`)));
  });
  const { directory, pids } = JSON.parse(line) as { directory: string; pids: readonly number[] };
  const launcherPid = child.pid ?? 0;
  return { directory, pids, launcherPid, guardianPid: processesMentioning("guardian.ts", directory)[0] ?? 0 };
}

const alive = (pids: readonly number[]): readonly number[] =>
  pids.filter((pid) => identifyProcess(pid) !== undefined);

async function untilNothingIsLeft({ directory, pids }: Launched): Promise<void> {
  await eventually(
    () => (alive(pids).length === 0 && !existsSync(directory) ? true : undefined),
    () => `processes ${alive(pids).join(", ")}, directory ${existsSync(directory)}`,
  );
}

const SIGNALS: readonly NodeJS.Signals[] = ["SIGTERM", "SIGINT", "SIGKILL"];

describe("the life of a cluster", () => {
  test("[local-cluster/LC-05] keeps two clusters apart: ports, CAs, directories, objects", async () => {
    await using one = await startLocalCluster();
    await using two = await startLocalCluster();
    expect(
      new Set([
        one.admin.server,
        two.admin.server,
        one.directory,
        two.directory,
        one.admin.caPem,
        two.admin.caPem,
      ]).size,
    ).toBe(6);
    const made = await one.kubectl(["create", "configmap", "mine"]);
    expect(made.code, made.stderr).toBe(0);
    const sought = await two.kubectl(["get", "configmap", "mine"]);
    expect(sought.stderr).toContain("NotFound");
    using stranger = new ApiClient({ ...two.admin, caPem: one.admin.caPem });
    await expect(stranger.send({ path: "/readyz" })).rejects.toThrow(/certificate/i);
  });

  test.each(SIGNALS)(
    "[local-cluster/LC-06] leaves nothing behind when the launcher gets %s",
    async (signal) => {
      using parent = clustersDirectory();
      const launched = await launchElsewhere(parent.path);
      expect(alive(launched.pids)).toHaveLength(launched.pids.length);
      process.kill(launched.launcherPid, signal);
      await untilNothingIsLeft(launched);
    },
  );

  test("[local-cluster/LC-06] reaps at the next start what a launcher killed together with its guardian left", async () => {
    using parent = clustersDirectory();
    const launched = await launchElsewhere(parent.path);
    process.kill(launched.guardianPid, "SIGKILL");
    process.kill(launched.launcherPid, "SIGKILL");
    await eventually(
      () => (alive([launched.launcherPid]).length === 0 ? true : undefined),
      () => "the launcher lives",
    );
    expect(alive(launched.pids)).toHaveLength(launched.pids.length);
    await using next = await startLocalCluster({ parentDirectory: parent.path });
    expect(next.directory).not.toBe(launched.directory);
    expect(alive(launched.pids)).toEqual([]);
    expect(existsSync(launched.directory)).toBe(false);
  });

  test("[local-cluster/LC-07] spares a stranger that took over a recorded pid", async () => {
    using directory = clustersDirectory();
    const stranger = spawn("sleep", ["60"], { stdio: "ignore" });
    const pid = stranger.pid ?? 0;
    const identity = identifyProcess(pid);
    mkdirSync(join(directory.path, "pids"));
    const record = `${pid} (etcd) S ${Array.from({ length: 18 }, () => "0").join(" ")} ${Number(identity?.startTicks) - 1} 0`;
    writeFileSync(join(directory.path, "pids", `etcd.${pid}`), record);
    await endRecorded(directory.path, realSystem);
    expect(identifyProcess(pid)).toEqual(identity);
    writeFileSync(
      join(directory.path, "pids", `etcd.${pid}`),
      record.replace(` ${Number(identity?.startTicks) - 1} 0`, ` ${identity?.startTicks} 0`),
    );
    await endRecorded(directory.path, realSystem);
    expect(identifyProcess(pid)).toBeUndefined();
  });

  test("[local-cluster/LC-08] brings the same data back after the API server was killed", async () => {
    await using cluster = await startLocalCluster();
    await cluster.kubectl(["create", "configmap", "kept", "--from-literal=a=b"]);
    const firstPid = cluster.apiServer.pid;
    await cluster.apiServer.kill();
    expect(cluster.apiServer.isRunning()).toBe(false);
    await cluster.apiServer.restart();
    expect(cluster.apiServer.pid).not.toBe(firstPid);
    const { stdout } = await cluster.kubectl(["get", "configmap", "kept", "-o", "jsonpath={.data.a}"]);
    expect(stdout).toBe("b");
  });

  test("[local-cluster/LC-09] serves stale lists behind a paused relay and fresh ones after it resumes", async () => {
    await using cluster = await startLocalCluster({ staleApiServer: true });
    const stale = cluster.stale;
    if (stale === undefined) throw new Error("the second API server is missing");
    using near = new ApiClient({ ...cluster.admin, server: stale.apiServer.url });
    const names = async (): Promise<readonly string[]> => {
      const response = await near.send({ path: "/api/v1/namespaces/default/configmaps?resourceVersion=0" });
      const { items } = JSON.parse(response.body) as { items: readonly { metadata: { name: string } }[] };
      return items.map(({ metadata }) => metadata.name);
    };
    await cluster.kubectl(["create", "configmap", "before"]);
    await eventually(
      async () => ((await names()).includes("before") ? true : undefined),
      () => "never saw the first object",
    );
    stale.relay.pause();
    await cluster.kubectl(["create", "configmap", "after"]);
    const { stdout } = await cluster.kubectl(["get", "configmap", "after", "-o", "name"]);
    expect(stdout.trim()).toBe("configmap/after");
    expect(await names()).not.toContain("after");
    stale.relay.resume();
    await eventually(
      async () => ((await names()).includes("after") ? true : undefined),
      () => "still stale",
    );
  });
});
