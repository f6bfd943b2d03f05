import { events } from "@quartermaster/runtime/kinds";
import { eventually } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import {
  aCluster,
  aPool,
  conditionOf,
  isReady,
  type SearchBench,
  setUpSearch,
} from "../support/search-bench.ts";

const rate = "indices.recovery.max_bytes_per_sec";
const backup = { name: "backup", type: "fs", settings: { location: "/snapshots/backup" } };
const declared = aCluster("logs", {
  pools: [aPool("nodes", 1)],
  general: {
    additionalConfig: { "path.repo": "/snapshots" },
    clusterSettings: { [rate]: "20mb" },
    snapshotRepositories: [backup],
  },
});

async function notes({ client, namespace }: SearchBench, reason: string): Promise<readonly string[]> {
  const all = await Array.fromAsync(client.list(events, { namespace }));
  return all.flatMap((event) => (event.reason === reason ? [event.note ?? ""] : []));
}

describe("[search/SC-125] what another client changes in the engine", () => {
  test("settings and repositories that are deleted or changed come back by the next list, with events", async () => {
    await using bench = await setUpSearch({ sampling: { settledMs: 300, openMs: 300, listMs: 600 } });
    await bench.apply(declared);
    await bench.until("logs", isReady);
    const engine = bench.engines.engine("logs");
    await eventually((see) => see(engine.settings().persistent[rate]) === "20mb" || undefined);
    engine.putSettings({ persistent: { [rate]: "1mb" } });
    engine.repositories()?.delete("backup");
    await eventually((see) => see(engine.settings().persistent[rate]) === "20mb" || undefined);
    await eventually((see) => see(engine.repositories()?.list().length) === 1 || undefined);
    await bench.until("logs", isReady);
    await eventually(async (see) => see(await notes(bench, "EngineDrift")).length >= 2 || undefined);
  });

  test("a repository that is another one by now is reported and not touched, until it is resolved", async () => {
    await using bench = await setUpSearch({ sampling: { settledMs: 300, openMs: 300, listMs: 600 } });
    await bench.apply(declared);
    await bench.until("logs", isReady);
    const engine = bench.engines.engine("logs");
    const theirs = { ...backup, settings: { location: "/snapshots/theirs" } };
    engine.repositories()?.put(theirs);
    await bench.until("logs", (object) => conditionOf(object, "Ready") === "False/RepositoryConflict");
    expect(engine.repositories()?.list()).toEqual([theirs]);
    engine.repositories()?.delete("backup");
    await bench.until("logs", isReady);
    expect(engine.repositories()?.list()).toEqual([backup]);
  });
});
