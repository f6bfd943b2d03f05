import { progressPrinter } from "@quartermaster/local-cluster";
import { provideEngineImage } from "@quartermaster/local-cluster/engines";

import { usageError } from "../../errors.ts";
import { monitoringImages, monitoringWord } from "./bring-up-monitoring.ts";
import { type SearchSample, searchSamples } from "./search-samples.ts";

/** Takes `--with a,b` out of the words. Throws a usage error where it names what there is not. */
export function withoutWith(words: readonly string[]): {
  readonly asked: readonly string[];
  readonly rest: readonly string[];
} {
  const at = words.findIndex((word) => word === "--with" || word.startsWith("--with="));
  if (at === -1) return { asked: [], rest: words };
  const isJoined = words[at] !== "--with";
  const value = isJoined ? (words[at] ?? "").slice("--with=".length) : (words[at + 1] ?? "");
  const asked = value.split(",");
  const known = [...searchSamples.keys(), monitoringWord];
  if (asked.some((each) => !known.includes(each)))
    throw usageError(`--with ${value}: there is only ${known.join(", ")}`);
  if (!asked.some((each) => searchSamples.has(each)))
    throw usageError(`--with ${value}: say also which cluster is monitored, e.g. search,${monitoringWord}`);
  return { asked, rest: [...words.slice(0, at), ...words.slice(at + (isJoined ? 1 : 2))] };
}

/** Engines run on real nodes, which know the images from their first pod on; what is not in the cache is made. */
export async function wordsForSearch(
  words: readonly string[],
  samples: readonly SearchSample[],
  { isMonitored }: { readonly isMonitored: boolean },
): Promise<readonly string[]> {
  const profile = words.some((word) => word === "--profile" || word.startsWith("--profile="));
  const images: string[] = [];
  for (const { engine, version } of samples) {
    const { folder } = await provideEngineImage({ engine, version, report: progressPrinter(process.stderr) });
    images.push("--image", folder);
  }
  if (isMonitored) for (const folder of await monitoringImages()) images.push("--image", folder);
  return [...words, ...(profile ? [] : ["--profile", "nodes"]), ...images];
}
