import { join } from "node:path";

import { debianPrograms, progressPrinter, provideProgramImage } from "@quartermaster/local-cluster";
import { provideEngineImage } from "@quartermaster/local-cluster/engines";
import { stackImages } from "@quartermaster/search/offline";

import { makeProgramImage, repository, UpError } from "./programs.ts";

/** A search cluster that `make up` can make. */
export interface SearchSample {
  readonly file: string;
  readonly namespace: string;
  readonly name: string;
  /** As `kubectl get` names its kind; with its group where another has a kind of the same name. */
  readonly resource: string;
  readonly engine: "opensearch" | "elasticsearch";
  readonly version: string;
}

export interface SearchOptions {
  readonly samples: readonly SearchSample[];
  readonly isMonitored: boolean;
}

/** Reads the value of `--with`. */
export function searchOptions(requested: readonly string[]): SearchOptions {
  return {
    samples: requested.flatMap((text) => searchSamples.get(text) ?? []),
    isMonitored: requested.includes(monitoring),
  };
}

const monitoring = "monitoring";

/** By the value that `--with` takes. */
const searchSamples: ReadonlyMap<string, SearchSample> = new Map<string, SearchSample>([
  [
    "search",
    {
      file: join(repository, "config/samples/opensearch.yaml"),
      namespace: "search",
      name: "logs",
      resource: "opensearchclusters.opensearch.org",
      engine: "opensearch",
      version: "2.19.4",
    },
  ],
  [
    "elasticsearch",
    {
      file: join(repository, "config/samples/elasticsearch-trial.yaml"),
      namespace: "search",
      name: "docs",
      resource: "elasticsearchcluster",
      engine: "elasticsearch",
      version: "7.17.28",
    },
  ],
]);

/** Takes `--with a,b` out of the arguments. Throws a usage error for an unknown value. */
export function withoutWith(args: readonly string[]): {
  readonly requested: readonly string[];
  readonly rest: readonly string[];
} {
  const at = args.findIndex((each) => each === "--with" || each.startsWith("--with="));
  if (at === -1) return { requested: [], rest: args };
  const isJoined = args[at] !== "--with";
  const value = isJoined ? (args[at] ?? "").slice("--with=".length) : (args[at + 1] ?? "");
  const requested = value.split(",");
  const known = [...searchSamples.keys(), monitoring];
  if (requested.some((each) => !known.includes(each)))
    throw new UpError(`--with ${value}: there is only ${known.join(", ")}`, 2);
  if (!requested.some((each) => searchSamples.has(each)))
    throw new UpError(`--with ${value}: say also which cluster is monitored, e.g. search,${monitoring}`, 2);
  return { requested, rest: [...args.slice(0, at), ...args.slice(at + (isJoined ? 1 : 2))] };
}

/**
 * The arguments with what search clusters need. Engines run on real nodes, which know the images from their first pod on; what is not
 * in the cache is made.
 */
export async function withSearchImages(
  args: readonly string[],
  { samples, isMonitored }: SearchOptions,
): Promise<readonly string[]> {
  const report = progressPrinter(process.stderr);
  const hasProfile = args.some((each) => each === "--profile" || each.startsWith("--profile="));
  const directories: string[] = [];
  for (const { engine, version } of samples)
    directories.push((await provideEngineImage({ engine, version, report })).directory);
  if (isMonitored) {
    directories.push(await makeProgramImage("search-exporter"));
    // Debian's programs under the official names.
    for (const part of ["prometheus", "alertmanager"] as const) {
      const request = { ...debianPrograms[part], name: stackImages[part], report };
      directories.push((await provideProgramImage(request)).directory);
    }
  }
  const images = directories.flatMap((directory) => ["--image", directory]);
  return [...args, ...(hasProfile ? [] : ["--profile", "nodes"]), ...images];
}
