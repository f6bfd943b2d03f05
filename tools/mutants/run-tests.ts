import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { readReports } from "../report/read-reports.ts";

/** What a run of test files came to. */
export interface TestRun {
  readonly passed: boolean;
  /** The first test that failed, or why there is none; empty when all passed. */
  readonly firstFailure: string;
}

/** What is run, and where. */
export interface TestRunOptions {
  readonly root: string;
  readonly level: "unit" | "integration";
  readonly files: readonly string[];
  /** A mutant may never come to an end. */
  readonly limitMs: number;
}

/** Runs test files until the first failure. */
export async function runTests({ root, level, files, limitMs }: TestRunOptions): Promise<TestRun> {
  const directory = mkdtempSync(join(tmpdir(), "mutants-report-"));
  try {
    const reporter = ["--reporter=json", `--outputFile=${join(directory, "report.json")}`];
    const args = ["run", "--project", level, "--bail", "1", ...reporter];
    const code = await exitCode(join(root, "node_modules/.bin/vitest"), [...args, ...files], {
      cwd: root,
      limitMs,
    });
    if (code === 0) return { passed: true, firstFailure: "" };
    return { passed: false, firstFailure: code === undefined ? "time limit" : firstFailure(directory) };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Undefined when it was ended because of the limit. */
async function exitCode(
  command: string,
  args: readonly string[],
  { cwd, limitMs }: { readonly cwd: string; readonly limitMs: number },
): Promise<number | undefined> {
  const child = spawn(command, args, { cwd, stdio: "ignore", timeout: limitMs, killSignal: "SIGKILL" });
  const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
  child.on("error", reject);
  child.on("exit", (code) => {
    resolve(code ?? undefined);
  });
  return await promise;
}

function firstFailure(directory: string): string {
  const files = readReports(directory).flatMap((report) => report.files);
  const failed = files.flatMap(({ tests }) => tests).find(({ status }) => status === "failed");
  return (
    failed?.fullName ??
    `${files.find(({ brokenBy }) => brokenBy !== undefined)?.path ?? "a file"} does not load`
  );
}
