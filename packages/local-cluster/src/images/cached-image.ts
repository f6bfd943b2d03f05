import { existsSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";

import { clearAbandoned, lockCacheDirectory, openWorkplace } from "../assets/cache.ts";
import { type AssetStep, beginStep, type ProgressReport } from "../assets/progress.ts";
import { type System, userCache } from "../system/system.ts";
import { type ImageRequest, writeImageLayout } from "./image-layout.ts";

/** An image that is made once and kept in the user's cache. */
export interface CachedImageRequest {
  /** Directory of the user's cache that holds images of this sort. */
  readonly cacheName: string;
  /** Name of the image's directory there; it changes whenever the content would. */
  readonly directoryName: string;
  /** For progress, e.g. `an image of an engine`. */
  readonly title: string;
  readonly step: Pick<AssetStep, "component" | "version" | "expectedSeconds">;
  /** Assembles what the layout is written from, in a workplace that is removed afterwards. */
  readonly assemble: (work: ImageWork) => Promise<Omit<ImageRequest, "target" | "compression">>;
  readonly report?: ProgressReport | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly system: System;
}

/** Where an image is assembled. */
export interface ImageWork {
  readonly cache: string;
  readonly workplace: string;
  readonly report: ProgressReport;
  readonly signal?: AbortSignal | undefined;
  readonly system: System;
}

/** Returns the directory of the image's layout, after making it if need be. One process at a time makes images. */
export async function cachedImage(request: CachedImageRequest): Promise<string> {
  const { cacheName, directoryName, title, step, report = () => undefined, signal, system } = request;
  const cache = userCache(system, cacheName);
  const directory = join(cache, directoryName);
  if (existsSync(directory)) return directory;
  await mkdir(cache, { recursive: true });
  const onWait = (pid: string): void =>
    report({ kind: "note", text: `waiting for process ${pid}, which is making ${title}` });
  await using held = new AsyncDisposableStack();
  held.use(await lockCacheDirectory({ directory: cache, system, onWait, signal }));
  await clearAbandoned(cache);
  if (existsSync(directory)) return directory;
  const running = beginStep({ ...step, action: "building", position: 1, total: 1 }, report, system);
  try {
    await makeImage(directory, request, { cache, report, signal, system });
  } catch (error) {
    await running.fail("failed");
    throw error;
  }
  await running.finish();
  return directory;
}

/** The finished layout appears by a rename: what is in the cache is whole. */
async function makeImage(
  directory: string,
  { assemble }: CachedImageRequest,
  work: Omit<ImageWork, "workplace">,
): Promise<void> {
  const workplace = await openWorkplace(work.cache, work.system);
  try {
    const target = join(workplace, "layout");
    await writeImageLayout({ ...(await assemble({ ...work, workplace })), compression: "none", target });
    await rename(target, directory);
  } finally {
    await rm(workplace, { recursive: true, force: true, maxRetries: 3 });
  }
}
