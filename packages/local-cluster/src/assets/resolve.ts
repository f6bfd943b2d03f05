import { join } from "node:path";

import type { System } from "../system/system.ts";
import { cacheDirectory, lookUp } from "./cache.ts";
import type { ComponentName } from "./component.ts";
import { COMPONENTS } from "./component.ts";
import { cacheDirectoryError } from "./errors.ts";
import {
  type Asset,
  chooseKubernetes,
  type GoModule,
  readGoModule,
  readKubernetesModules,
} from "./go-module.ts";
import type { NamedDirectory } from "./named-directory.ts";
import { readNamedDirectory } from "./named-directory.ts";
import type { Platform } from "./platform.ts";
import { thisPlatform } from "./platform.ts";
import type { ProgressReport } from "./progress.ts";
import { provideMissing } from "./provide.ts";

/** Which binaries are needed. */
export interface BinariesRequest {
  readonly components: readonly ComponentName[];
  /** Components of later requests; only counted in the estimate of the whole time (default: none). */
  readonly later?: readonly ComponentName[] | undefined;
  /** `1.35`, `1.35.4` or `v1.35.4`; the newest supported one when left out. */
  readonly version?: string | undefined;
  readonly system: System;
  readonly report?: ProgressReport | undefined;
  /** Aborting ends downloads and builds immediately and leaves nothing half done. */
  readonly signal?: AbortSignal | undefined;
  /** Directory with the Go modules; this package's own unless a test brings smaller ones. */
  readonly goDirectory?: string | undefined;
}

/** Binaries that are there and whole. */
export interface Binaries {
  /** Version of Kubernetes with its "v"; binaries from a directory the user named may be of another. */
  readonly version: string;
  /** Absolute path of each component requested. */
  readonly paths: ReadonlyMap<ComponentName, string>;
  /** Absolute path of a component; throws for one that was not requested. */
  path(component: ComponentName): string;
}

/**
 * Finds or makes the binaries of a local cluster: from the directory named by `QM_KUBE_ASSETS` or `KUBEBUILDER_ASSETS`, from the
 * cache, from the official releases, by a build from Go modules. Throws a `LocalClusterError` that says what to do.
 *
 * @example const { path } = await resolveBinaries({ components: ["etcd", "kube-apiserver"], system: realSystem });
 */
export async function resolveBinaries(request: BinariesRequest): Promise<Binaries> {
  const {
    system,
    report = ignoreProgress,
    signal = new AbortController().signal,
    goDirectory = OWN_GO_DIRECTORY,
  } = request;
  const platform = thisPlatform();
  const kubernetes = chooseKubernetes(await readKubernetesModules(goDirectory), request.version);
  const named = await readNamedDirectory(request.components, system);
  noteNamedDirectory(named, report);
  const components = request.components.filter((component) => named?.paths.has(component) !== true);
  const assets = await planAssets(components, kubernetes, { goDirectory, platform, system });
  const cached = await lookUpAll(assets, report);
  const missing = assets.filter(({ component }) => !cached.has(component.name));
  const later = await missingLater(request.later ?? [], kubernetes, { goDirectory, platform, system });
  const provided = await provideMissing(missing, { platform, system, report, signal, named, later });
  return describeBinaries(kubernetes.version, new Map([...(named?.paths ?? []), ...cached, ...provided]));
}

/** Beside src, and beside the built package too. */
const OWN_GO_DIRECTORY = join(import.meta.dirname, "..", "..", "go");

function ignoreProgress(): void {
  // No progress is wanted.
}

function noteNamedDirectory(named: NamedDirectory | undefined, report: ProgressReport): void {
  if (named === undefined || named.paths.size === 0) return;
  const names = [...named.paths.keys()].join(", ");
  report({ kind: "note", text: `using ${names} from ${named.directory} (${named.variable})` });
}

async function planAssets(
  names: readonly ComponentName[],
  kubernetes: GoModule,
  {
    goDirectory,
    platform,
    system,
  }: { readonly goDirectory: string; readonly platform: Platform; readonly system: System },
): Promise<readonly Asset[]> {
  const components = COMPONENTS.filter(({ name }) => names.includes(name));
  return await Promise.all(
    components.map(async (component): Promise<Asset> => {
      const { project } = component;
      const module =
        project === "kubernetes" ? kubernetes : await readGoModule(project, join(goDirectory, project));
      return { component, module, directory: cacheDirectory(module, platform, system) };
    }),
  );
}

async function missingLater(
  names: readonly ComponentName[],
  kubernetes: GoModule,
  location: { readonly goDirectory: string; readonly platform: Platform; readonly system: System },
): Promise<readonly Asset[]> {
  if (names.length === 0) return [];
  const named = await readNamedDirectory(names, location.system);
  const assets = await planAssets(
    names.filter((name) => named?.paths.has(name) !== true),
    kubernetes,
    location,
  );
  const cached = await lookUpAll(assets, ignoreProgress);
  return assets.filter(({ component }) => !cached.has(component.name));
}

async function lookUpAll(
  assets: readonly Asset[],
  report: ProgressReport,
): Promise<ReadonlyMap<ComponentName, string>> {
  const found = new Map<ComponentName, string>();
  for (const { component, directory } of assets) {
    const entry = await lookUp(directory, component.name).catch((error: unknown) => {
      throw cacheDirectoryError(directory, error);
    });
    if (entry.kind === "sound") found.set(component.name, entry.path);
    if (entry.kind === "broken") {
      const text = `${component.name} in the cache is broken (${entry.reason}); it was removed and is created again`;
      report({ kind: "note", text });
    }
  }
  return found;
}

function describeBinaries(version: string, paths: ReadonlyMap<ComponentName, string>): Binaries {
  return {
    version,
    paths,
    path: (component) => {
      const path = paths.get(component);
      if (path === undefined) throw new Error(`${component} was not among the requested binaries`);
      return path;
    },
  };
}
