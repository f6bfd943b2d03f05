import { events, pods } from "@quartermaster/runtime/kinds";
import { eventually } from "@quartermaster/testkit";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";

import type { FakeEngine } from "../fakes/index.ts";
import { allCrashes, liveAndDie } from "../support/live-and-die.ts";
import {
  aCluster,
  aPool,
  conditionOf,
  isReady,
  messageOf,
  type SearchBench,
  setUpSearch,
} from "../support/search-bench.ts";

const pools = [aPool("nodes", 1)];
const directory = { additionalConfig: { "path.repo": "/snapshots" } };
const rate = "indices.recovery.max_bytes_per_sec";
const fs = (name: string, location = `/snapshots/${name}`): object => ({
  name,
  type: "fs",
  settings: { location },
});
const theirs = { name: "theirs", type: "fs", settings: { location: "/snapshots/theirs" } };

function declared(general: object = {}): object {
  return aCluster("logs", { pools, general: { ...directory, ...general } });
}

function names(engine: FakeEngine): readonly string[] {
  return (engine.repositories()?.list() ?? []).map(({ name }) => name).toSorted();
}

function resetting(settings: object): Readonly<Record<string, null>> {
  return Object.fromEntries(Object.keys(settings).map((key) => [key, null]));
}

async function podUids({ client, namespace }: SearchBench): Promise<readonly string[]> {
  return (await Array.fromAsync(client.list(pods, { namespace }))).map(({ metadata }) => metadata.uid);
}

async function started(bench: SearchBench): Promise<FakeEngine> {
  await bench.apply(declared());
  await bench.until("logs", isReady);
  return bench.engines.engine("logs");
}

describe("snapshot repositories and dynamic settings", () => {
  let bench: SearchBench;
  let engine: FakeEngine;

  beforeAll(async () => {
    bench = await setUpSearch();
    engine = await started(bench);
  }, 60_000);

  afterEach(async () => {
    engine.faults.clear();
    engine.unusableRepositories.clear();
    await bench.apply(declared());
    await bench.until("logs", isReady);
    const { persistent, transient } = engine.settings();
    engine.putSettings({ persistent: resetting(persistent), transient: resetting(transient) });
    for (const name of names(engine)) engine.repositories()?.delete(name);
  });

  afterAll(async () => {
    await bench[Symbol.asyncDispose]();
  });

  test("[search/SC-111] added and dropped: registered and set, deregistered and reset, those of others kept, no restart", async () => {
    const before = await podUids(bench);
    engine.repositories()?.put(theirs);
    engine.putSettings({ persistent: { "cluster.max_shards_per_node": "900" }, transient: {} });

    await bench.apply(
      declared({ snapshotRepositories: [fs("backup"), theirs], clusterSettings: { [rate]: "20mb" } }),
    );
    const added = await bench.until("logs", isReady);
    expect(names(engine)).toEqual(["backup", "theirs"]);
    expect(engine.settings().persistent).toEqual({ [rate]: "20mb", "cluster.max_shards_per_node": "900" });
    expect(added.status?.repositories).toMatchObject([
      { name: "backup", verified: true },
      { name: "theirs", foreign: true },
    ]);

    await bench.apply(
      declared({
        snapshotRepositories: [fs("backup", "/snapshots/other")],
        clusterSettings: { [rate]: "30mb" },
      }),
    );
    await bench.until("logs", isReady);
    expect(engine.repositories()?.list()).toContainEqual(fs("backup", "/snapshots/other"));
    expect(engine.settings().persistent).toMatchObject({ [rate]: "30mb" });

    await bench.apply(declared());
    const dropped = await bench.until("logs", isReady);
    expect(names(engine)).toEqual(["theirs"]);
    expect(engine.settings().persistent).toEqual({ "cluster.max_shards_per_node": "900" });
    expect(dropped.status).not.toHaveProperty("repositories");
    expect(dropped.status).not.toHaveProperty("clusterSettings");
    expect(await podUids(bench)).toEqual(before);
  });

  test("[security/78] an address inside the network is refused before the engine hears of it, and no credential is told", async () => {
    const calls = bench.engines.calls.length;
    await bench.apply(
      declared({
        snapshotRepositories: [
          { name: "metadata", type: "url", settings: { url: "http://169.254.169.254/latest" } },
          { name: "inner", type: "s3", settings: { bucket: "b", endpoint: "minio.storage.svc:9000" } },
          { name: "keyed", type: "s3", settings: { bucket: "b", secret_key: "canary-1234" } },
          fs("outside", "/etc"),
        ],
      }),
    );
    const refused = await bench.until(
      "logs",
      (found) => conditionOf(found, "Stalled") === "True/RepositoryNotAllowed",
    );
    const message = messageOf(refused);
    for (const part of [
      "[0].settings.url",
      "[1].settings.endpoint",
      "[2].settings.secret_key",
      "[3].settings.location",
    ])
      expect(message).toContain(`spec.general.snapshotRepositories${part}`);
    expect(message).toContain("--snapshot-hosts");
    expect(bench.engines.calls.slice(calls)).not.toContain("putRepository");
    const { client, namespace } = bench;
    const reported = JSON.stringify([
      refused.status,
      await Array.fromAsync(client.list(events, { namespace })),
    ]);
    expect(reported).not.toContain("canary");
  });

  test("a repository of another client under the name is reported and never touched", async () => {
    engine.repositories()?.put(theirs);
    await bench.apply(declared({ snapshotRepositories: [fs("theirs", "/snapshots/mine"), fs("backup")] }));
    const conflict = await bench.until(
      "logs",
      (found) => conditionOf(found, "Stalled") === "True/RepositoryConflict",
    );
    expect(messageOf(conflict)).toContain("theirs");
    expect(engine.repositories()?.list()).toContainEqual(theirs);
    expect(names(engine)).toEqual(["backup", "theirs"]);
    await bench.apply(declared());
    await bench.until("logs", isReady);
    expect(engine.repositories()?.list()).toEqual([theirs]);
  });

  test("one that another client changed stays registered when it is no longer declared", async () => {
    await bench.apply(declared({ snapshotRepositories: [fs("backup")] }));
    await bench.until("logs", isReady);
    const changed = { name: "backup", type: "fs", settings: { location: "/snapshots/elsewhere" } };
    engine.repositories()?.put(changed);
    await bench.apply(declared());
    await bench.until("logs", isReady);
    expect(engine.repositories()?.list()).toEqual([changed]);
    await eventually(async (see) => {
      const { client, namespace } = bench;
      const list = await Array.fromAsync(client.list(events, { namespace }));
      return see(list.map(({ reason }) => reason)).includes("RepositoryLeft") || undefined;
    });
  });

  test("one that nodes cannot use, and one that the engine refuses, are named; the others are registered", async () => {
    engine.unusableRepositories.add("slow");
    await bench.apply(declared({ snapshotRepositories: [fs("slow"), fs("backup")] }));
    const unusable = await bench.until(
      "logs",
      (found) => conditionOf(found, "Ready") === "False/RepositoryUnverified",
    );
    expect(messageOf(unusable)).toContain("slow (repository_exception)");
    expect(messageOf(unusable)).not.toContain("backup");
    engine.unusableRepositories.clear();
    await bench.until("logs", isReady);
    const unknown = { name: "odd", type: "nobody-has-it", settings: {} };
    await bench.apply(declared({ snapshotRepositories: [unknown, fs("backup")] }));
    await bench.until("logs", (found) => conditionOf(found, "Ready") === "False/RepositoryRefused");
    expect(names(engine)).toEqual(["backup"]);
  });

  test("while the engine does not tell what it has, nothing is registered, deregistered, set or reset", async () => {
    await bench.apply(
      declared({ snapshotRepositories: [fs("backup")], clusterSettings: { [rate]: "20mb" } }),
    );
    await bench.until("logs", isReady);
    for (const call of ["repositories", "settings"] as const)
      engine.faults.plan({ call, fault: { kind: "throw", code: "unavailable" } });
    await bench.apply(declared({ snapshotRepositories: [fs("second")] }));
    await bench.until("logs", (found) => conditionOf(found, "Ready") === "False/SettingsPending");
    expect(names(engine)).toEqual(["backup"]);
    expect(engine.settings().persistent).toEqual({ [rate]: "20mb" });
    engine.faults.clear();
    await bench.until("logs", isReady);
    expect(names(engine)).toEqual(["second"]);
    expect(engine.settings().persistent).toEqual({});
  });

  test("a setting that the engine refuses, and one that a transient one hides, are named", async () => {
    engine.faults.plan({ call: "putSettings", fault: { kind: "throw", code: "invalid" } });
    await bench.apply(declared({ clusterSettings: { "no.such.setting": "1" } }));
    const refused = await bench.until(
      "logs",
      (found) => conditionOf(found, "Ready") === "False/SettingRefused",
    );
    expect(messageOf(refused)).toContain("no.such.setting");
    engine.faults.clear();
    engine.putSettings({ persistent: {}, transient: { [rate]: "1mb" } });
    await bench.apply(declared({ clusterSettings: { [rate]: "20mb" } }));
    const hidden = await bench.until(
      "logs",
      (found) => conditionOf(found, "Stalled") === "True/SettingShadowed",
    );
    expect(messageOf(hidden)).toContain(rate);
    expect(engine.settings().transient).toEqual({ [rate]: "1mb" });
  });
});

describe("snapshot repositories and dynamic settings under crashes", () => {
  test.for(process.env["QM_CAMPAIGN"] === "1" ? allCrashes : allCrashes.slice(0, 1))(
    "[search/SC-111] the operator killed at %s write %i of each life: the same end, and nothing of others is lost",
    { timeout: 4 * 60_000 },
    async (crash) => {
      await using bench = await setUpSearch();
      const engine = await started(bench);
      engine.repositories()?.put(theirs);
      engine.putSettings({ persistent: { "cluster.max_shards_per_node": "900" }, transient: {} });
      await bench.stop();
      const isDone = async (): Promise<boolean> => isReady(await bench.get("logs"));
      await bench.apply(
        declared({ snapshotRepositories: [fs("one"), fs("two")], clusterSettings: { [rate]: "20mb" } }),
      );
      await liveAndDie(bench, crash, isDone);
      expect(names(engine)).toEqual(["one", "theirs", "two"]);
      await bench.apply(
        declared({ snapshotRepositories: [fs("two", "/snapshots/2")], clusterSettings: { [rate]: "30mb" } }),
      );
      await liveAndDie(bench, crash, isDone);
      expect(names(engine)).toEqual(["theirs", "two"]);
      await bench.apply(declared());
      await liveAndDie(bench, crash, isDone);
      expect(engine.repositories()?.list()).toEqual([theirs]);
      expect(engine.settings().persistent).toEqual({ "cluster.max_shards_per_node": "900" });
    },
  );
});
