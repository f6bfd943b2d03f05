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

/** Without its last step: a cluster that is gone has no engine to compare. */
const rolled: EngineWorkload = {
  name: "search",
  victim: "logs-nodes-0",
  setUp: async () => {
    const run = await searchWorkload.setUp();
    return { ...run, steps: run.steps.slice(0, -1) };
  },
};

const walks: readonly { readonly workload: EngineWorkload; readonly sample: readonly string[] }[] = [
  {
    workload: rolled,
    sample: [
      "P1-late at putSettings #1",
      "P1-after at putSettings #2",
      "P2-no-shards at putSettings #3",
      "P2-flapping at putSettings #1",
      "P3-killed at putSettings #2",
    ],
  },
  {
    workload: { ...searchVotesWorkload, victim: "logs-data-0" },
    sample: [
      "P1-cut at excludeVotes #1",
      "P2-unacknowledged at putRepository #1",
      "P3-paused at clearVoteExclusions #1",
    ],
  },
  { workload: searchLicenseWorkload, sample: ["P1-cut at putLicense #1", "P1-after at startTrial #1"] },
];

test.for(walks)(
  "[faults/P1] [faults/P2] [faults/P3] engine of $workload.name: faults at its writes, a sample here and all in the campaign; the same end, nothing lost or left behind, one node away at most",
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
