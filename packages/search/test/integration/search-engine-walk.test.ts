import { expect, test } from "vitest";

import {
  engineFaultPlans,
  enginePlanName,
  type EngineWorkload,
  learnEngine,
  runEnginePlan,
} from "../support/engine-walk.ts";
import { searchLicenseWorkload, searchVotesWorkload, searchWorkload } from "../support/search-workload.ts";

const isCampaign = process.env["QM_CAMPAIGN"] === "1";
/** Runs beside each other: most of a run is waiting. */
const lanes = 4;

/** Without its last step: a cluster that no longer exists has no engine to compare. */
const rolled: EngineWorkload = {
  name: "search",
  victim: "logs-nodes-0",
  setUp: async () => {
    const run = await searchWorkload.setUp();
    return { ...run, steps: run.steps.slice(0, -1) };
  },
};

interface Walk {
  /** Cases that it shows. */
  readonly ids: string;
  readonly workload: EngineWorkload;
  /** Plans that `make test` runs. */
  readonly sample: readonly string[];
}

const walks: readonly Walk[] = [
  {
    ids: "[faults/P1] [faults/P2] [faults/P3]",
    workload: rolled,
    sample: ["P1-late at putSettings #1", "P2-no-shards at putSettings #3", "P3-killed at putSettings #2"],
  },
  {
    ids: "[faults/P1] [faults/P2] [faults/P3]",
    workload: { ...searchVotesWorkload, victim: "logs-data-0" },
    sample: [
      "P1-cut at excludeVotes #1",
      "P2-flapping at excludeVotes #1",
      "P3-paused at clearVoteExclusions #1",
    ],
  },
  { ids: "[faults/P1]", workload: searchLicenseWorkload, sample: ["P1-cut at putLicense #1"] },
];

test.each(walks)(
  "$ids engine of $workload.name: faults at its writes, a sample here and all in the campaign; the same end, nothing lost or left behind, one node away at most",
  { timeout: 14_400_000 },
  async ({ workload, sample }) => {
    const reference = await learnEngine(workload);
    expect(reference.points.length).toBeGreaterThanOrEqual(sample.length);
    const all = engineFaultPlans(workload, reference);
    const plans = isCampaign ? all : all.filter((plan) => sample.includes(enginePlanName(plan)));
    expect(plans.length).toBeGreaterThanOrEqual(sample.length);
    const failures: string[] = [];
    const open = plans.values();
    const lane = async (): Promise<void> => {
      for (const plan of open) {
        const problem = await runEnginePlan(workload, plan, reference);
        if (problem !== undefined && problem !== "not reached")
          failures.push(`${enginePlanName(plan)}: ${problem}`);
      }
    };
    await Promise.all(Array.from({ length: lanes }, lane));
    expect(failures).toEqual([]);
  },
);
