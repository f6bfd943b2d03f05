import { progressPrinter } from "@quartermaster/local-cluster";
import { provideEngineImage } from "@quartermaster/local-cluster/engines";

import { usageError } from "../../errors.ts";
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
  const unknown = asked.filter((each) => !searchSamples.has(each));
  if (unknown.length > 0)
    throw usageError(`--with ${value}: there is only ${[...searchSamples.keys()].join(", ")}`);
  return { asked, rest: [...words.slice(0, at), ...words.slice(at + (isJoined ? 1 : 2))] };
}

/** Engines run on real nodes, which know the images from their first pod on; what is not in the cache is made. */
export async function wordsForSearch(
  words: readonly string[],
  samples: readonly SearchSample[],
): Promise<readonly string[]> {
  const profile = words.some((word) => word === "--profile" || word.startsWith("--profile="));
  const images: string[] = [];
  for (const { engine, version } of samples) {
    const { folder } = await provideEngineImage({ engine, version, report: progressPrinter(process.stderr) });
    images.push("--image", folder);
  }
  return [...words, ...(profile ? [] : ["--profile", "nodes"]), ...images];
}
