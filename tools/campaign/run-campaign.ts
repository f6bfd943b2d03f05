import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { readReports } from "../report/read-reports.ts";
import { type Campaign, campaignVariable } from "./campaigns.ts";

/** How a campaign ended. */
export interface CampaignResult {
  readonly campaign: Campaign;
  readonly passed: number;
  readonly failures: readonly string[];
  readonly tookMs: number;
}

const testTimeoutMs = 30 * 60_000;

/** Runs the tests of a campaign at full length. What vitest prints goes to standard error. */
export async function runCampaign(campaign: Campaign): Promise<CampaignResult> {
  const directory = mkdtempSync(join(tmpdir(), "campaign-"));
  const startMs = performance.now();
  try {
    const code = await vitest(campaign, join(directory, "integration.json"));
    const files = readReports(directory).flatMap((report) => report.files);
    const tests = files.flatMap((file) => file.tests).filter(({ status }) => status !== "skipped");
    const failures = [
      ...files.flatMap(({ brokenBy }) => brokenBy ?? []),
      ...tests.filter(({ status }) => status === "failed").map(({ fullName }) => fullName),
    ];
    const passed = tests.filter(({ status }) => status === "passed").length;
    const isSilent = failures.length === 0 && (code !== 0 || passed === 0);
    return {
      campaign,
      passed,
      failures: isSilent ? [`vitest ended with ${code} after ${passed} tests`] : failures,
      tookMs: performance.now() - startMs,
    };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function vitest({ file, level = "integration", cases }: Campaign, report: string): Promise<number> {
  const chosen = ["--project", level, "-t", cases, `/${file}.test.ts`];
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
  const child = spawn("vitest", ["run", ...chosen, `--testTimeout=${testTimeoutMs}`, ...reporters], {
    env: { ...process.env, [campaignVariable]: "1" },
    stdio: ["ignore", process.stderr, process.stderr],
  });
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  child.once("error", reject).once("exit", (code) => {
    resolve(code ?? 1);
  });
  return await promise;
}
