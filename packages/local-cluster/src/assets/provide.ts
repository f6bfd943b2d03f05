import { mkdir, rm } from "node:fs/promises";

import type { System } from "../system/system.ts";
import { build, buildAnnouncement, type BuildRequest, buildSeconds, goProblem } from "./build.ts";
import { clearAbandoned, lockCacheDirectory, lookUp, openWorkplace, store } from "./cache.ts";
import type { ComponentName } from "./component.ts";
import { download, type Download, releaseOf, ReleaseSites } from "./download.ts";
import { assetsUnavailable, cacheDirectoryError } from "./errors.ts";
import type { Asset } from "./go-module.ts";
import type { NamedDirectory } from "./named-directory.ts";
import type { Platform } from "./platform.ts";
import { type AssetStep, beginStep, type ProgressReport, type RunningStep } from "./progress.ts";

export interface Environment {
  readonly platform: Platform;
  readonly system: System;
  readonly report: ProgressReport;
  readonly signal: AbortSignal;
  readonly named: NamedDirectory | undefined;
  /** Assets of a later request; counted in the estimate of the whole time. */
  readonly later: readonly Asset[];
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
  let isAnnounced = false;
  const announceBuild = (reason: string): void => {
    const text = buildAnnouncement([...missing, ...environment.later], reason);
    if (!isAnnounced && text !== undefined) environment.report({ kind: "note", text });
    isAnnounced = true;
  };
  const sites = new ReleaseSites(environment.system);
  const run: Run = { ...environment, signal, missing, sites, takeNumber, announceBuild };
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
  /** Says once how long the builds take, and why they are needed. */
  readonly announceBuild: (reason: string) => void;
}

type Provided = readonly [ComponentName, string];

async function provideLine(line: readonly Asset[], run: Run): Promise<readonly Provided[]> {
  const provided: Provided[] = [];
  const directories = new Set(line.map(({ directory }) => directory));
  for (const directory of directories) {
    try {
      provided.push(...(await provideDirectory(directory, line, run)));
    } catch (error) {
      throw cacheDirectoryError(directory, error);
    }
  }
  return provided;
}

/** Downloads what can be downloaded; the rest is built by one call of Go, because the programs of a module share packages. */
async function provideDirectory(
  directory: string,
  line: readonly Asset[],
  run: Run,
): Promise<readonly Provided[]> {
  const { system, signal, report } = run;
  await mkdir(directory, { recursive: true });
  const onWait = (pid: string): void =>
    report({ kind: "note", text: `waiting for process ${pid}, which is making the same binaries` });
  await using held = new AsyncDisposableStack();
  held.use(await lockCacheDirectory({ directory, system, signal, onWait }));
  await clearAbandoned(directory);
  const provided: Provided[] = [];
  const unfetched: Unfetched[] = [];
  for (const task of tasksIn(directory, line, run)) {
    const { name } = task.asset.component;
    // Looked up again: while we waited for the lock, its holder may have done the work.
    const entry = await lookUp(directory, name);
    const outcome =
      entry.kind === "sound" ? ({ ...entry, kind: "fetched" } as const) : await fetchAsset(task, run);
    if (outcome.kind === "fetched") provided.push([name, outcome.path]);
    else unfetched.push({ ...task, reason: outcome.reason });
  }
  const [first, ...others] = unfetched;
  return first === undefined ? provided : [...provided, ...(await buildAll([first, ...others], run))];
}

/** An asset with its place among all that are missing. */
interface Task {
  readonly asset: Asset;
  readonly facts: Omit<AssetStep, "action" | "expectedSeconds">;
}

interface Unfetched extends Task {
  /** Why it could not be downloaded. */
  readonly reason: string;
}

function tasksIn(directory: string, line: readonly Asset[], run: Run): readonly Task[] {
  return line.flatMap((asset, location) => {
    if (asset.directory !== directory) return [];
    const next = line[location + 1]?.component.name;
    const facts = {
      component: asset.component.name,
      version: asset.module.version,
      position: run.takeNumber(),
      total: run.missing.length,
      next,
    };
    return [{ asset, facts }];
  });
}

async function fetchAsset({ asset, facts }: Task, run: Run): Promise<Download> {
  const workplace = await openWorkplace(asset.directory, run.system);
  try {
    const fetched = await downloadAsset(asset, { ...facts, action: "downloading" }, { run, workplace });
    if (fetched.kind !== "fetched") return fetched;
    return { ...fetched, path: await store(fetched.path, asset.directory, asset.component.name) };
  } finally {
    await rm(workplace, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function buildAll(tasks: readonly [Unfetched, ...Unfetched[]], run: Run): Promise<readonly Provided[]> {
  const [{ asset, facts, reason }] = tasks;
  const problem = await goProblem(asset.module, run.system, run.signal);
  if (problem !== undefined)
    throw assetsUnavailable(asset, { ...run, releaseProblem: reason, goProblem: problem });
  run.announceBuild(reason);
  const components = tasks.map((task) => task.asset.component);
  const { next: _next, ...first } = facts;
  const next = tasks.at(-1)?.facts.next;
  const step: AssetStep = {
    ...first,
    others: components.slice(1).map(({ name }) => name),
    action: "building",
    expectedSeconds: buildSeconds(components),
    next,
  };
  const workplace = await openWorkplace(asset.directory, run.system);
  try {
    const built = await buildAssets({ ...asset, components }, step, { run, workplace });
    const provided: Provided[] = [];
    for (const [name, path] of built) provided.push([name, await store(path, asset.directory, name)]);
    return provided;
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

async function buildAssets(
  { components, module }: Pick<BuildRequest, "components" | "module">,
  step: AssetStep,
  { run, workplace }: Workshop,
): Promise<ReadonlyMap<ComponentName, string>> {
  const { platform, system, signal, report } = run;
  const running = beginStep(step, report, system);
  try {
    const paths = await build({ components, module, platform, workplace, system, signal });
    await running.finish();
    return paths;
  } catch (error) {
    await running.fail(signal.aborted ? "stopped" : "failed");
    throw error;
  }
}
