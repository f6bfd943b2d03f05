import { mkdir, rm } from "node:fs/promises";

import type { System } from "../system/system.ts";
import type { Asset } from "./asset.ts";
import { assetsUnavailable } from "./assets-unavailable.ts";
import { build } from "./build.ts";
import { cacheFolderError } from "./cache-folder-error.ts";
import { lockCacheFolder } from "./cache-lock.ts";
import { clearAbandoned, lookUp, openWorkplace, store } from "./cache.ts";
import type { ComponentName } from "./component.ts";
import { download } from "./download.ts";
import type { Download } from "./download.ts";
import { goFault } from "./go-toolchain.ts";
import type { NamedFolder } from "./named-folder.ts";
import type { Platform } from "./platform.ts";
import type { AssetStep, ProgressReport } from "./progress.ts";
import { ReleaseSites } from "./release-sites.ts";
import { releaseOf } from "./release.ts";
import type { RunningStep } from "./running-step.ts";
import { beginStep } from "./running-step.ts";

/** What providing needs to know of the world. */
export interface Environment {
  readonly platform: Platform;
  readonly system: System;
  readonly report: ProgressReport;
  readonly signal: AbortSignal;
  readonly named: NamedFolder | undefined;
}

/**
 * Fetches or builds what the cache lacks. Kubernetes is one line of work, everything else another beside it: a Go build keeps
 * all cores busy until it links, and there the other line fills the gap. The first failure stops both.
 */
export async function provideMissing(
  missing: readonly Asset[],
  environment: Environment,
): Promise<ReadonlyMap<ComponentName, string>> {
  const failure = new AbortController();
  const signal = AbortSignal.any([environment.signal, failure.signal]);
  let begun = 0;
  const takeNumber = (): number => (begun += 1);
  const run: Run = {
    ...environment,
    signal,
    missing,
    sites: new ReleaseSites(environment.system),
    takeNumber,
  };
  const lines = [
    missing.filter(({ module }) => module.project === "kubernetes"),
    missing.filter(({ module }) => module.project !== "kubernetes"),
  ];
  const outcomes = await Promise.allSettled(
    lines.map(async (line) => {
      try {
        return await provideLine(line, run);
      } catch (error) {
        failure.abort(error);
        throw error;
      }
    }),
  );
  environment.signal.throwIfAborted();
  failure.signal.throwIfAborted();
  return new Map(outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? outcome.value : [])));
}

interface Run extends Environment {
  readonly missing: readonly Asset[];
  readonly sites: ReleaseSites;
  /** 1, 2, 3, … in the order in which components are begun, over both lines. */
  readonly takeNumber: () => number;
}

type Provided = readonly [ComponentName, string];

async function provideLine(line: readonly Asset[], run: Run): Promise<readonly Provided[]> {
  const provided: Provided[] = [];
  const folders = new Set(line.map(({ folder }) => folder));
  for (const folder of folders) {
    try {
      provided.push(...(await provideFolder(folder, line, run)));
    } catch (error) {
      throw cacheFolderError(folder, error);
    }
  }
  return provided;
}

async function provideFolder(folder: string, line: readonly Asset[], run: Run): Promise<readonly Provided[]> {
  const { system, signal, report } = run;
  await mkdir(folder, { recursive: true });
  const onWait = (pid: string): void =>
    report({ kind: "note", text: `waiting for process ${pid}, which is making the same binaries` });
  await using held = new AsyncDisposableStack();
  held.use(await lockCacheFolder({ folder, system, signal, onWait }));
  await clearAbandoned(folder);
  const provided: Provided[] = [];
  for (const [place, asset] of line.entries()) {
    if (asset.folder !== folder) continue;
    const { name } = asset.component;
    const numbers = { position: run.takeNumber(), total: run.missing.length };
    const next = line[place + 1]?.component.name;
    const step = {
      component: name,
      version: asset.module.version,
      ...numbers,
      ...(next === undefined ? {} : { next }),
    };
    // Looked up again: while we waited for the lock, its holder may have done the work.
    const entry = await lookUp(folder, name);
    provided.push([name, entry.kind === "sound" ? entry.path : await provideAsset(asset, step, run)]);
  }
  return provided;
}

type StepFacts = Omit<AssetStep, "action" | "expectedSeconds">;

async function provideAsset(asset: Asset, facts: StepFacts, run: Run): Promise<string> {
  const workplace = await openWorkplace(asset.folder, run.system);
  try {
    const fetched = await downloadAsset(asset, { ...facts, action: "downloading" }, { run, workplace });
    if (fetched.kind === "fetched") return await store(fetched.path, asset.folder, asset.component.name);
    const fault = await goFault(asset.module, run.system, run.signal);
    if (fault !== undefined)
      throw assetsUnavailable(asset, { ...run, releaseFault: fetched.reason, goFault: fault });
    const step: AssetStep = { ...facts, action: "building", expectedSeconds: asset.component.buildSeconds };
    const built = await buildAsset(asset, step, { run, workplace });
    return await store(built, asset.folder, asset.component.name);
  } finally {
    await rm(workplace, { recursive: true, force: true, maxRetries: 3 });
  }
}

interface Workshop {
  readonly run: Run;
  readonly workplace: string;
}

async function downloadAsset(asset: Asset, step: AssetStep, { run, workplace }: Workshop): Promise<Download> {
  const { sites, system, signal, report } = run;
  let running: RunningStep | undefined;
  const onBegin = (): void => {
    running = beginStep(step, report, system);
  };
  const onBytes = (bytes: number): void => running?.received(bytes);
  const release = releaseOf(asset.component, asset.module.version, run);
  try {
    const outcome = await download({ release, sites, workplace, system, signal, onBegin, onBytes });
    await (outcome.kind === "fetched" ? running?.finish() : running?.fail(outcome.reason));
    return outcome;
  } catch (error) {
    await running?.fail("stopped");
    throw error;
  }
}

async function buildAsset(
  { component, module }: Asset,
  step: AssetStep,
  { run, workplace }: Workshop,
): Promise<string> {
  const { platform, system, signal, report } = run;
  const running = beginStep(step, report, system);
  try {
    const path = await build({ component, module, platform, workplace, system, signal });
    await running.finish();
    return path;
  } catch (error) {
    await running.fail(signal.aborted ? "stopped" : "failed");
    throw error;
  }
}
