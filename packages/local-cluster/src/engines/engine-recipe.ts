import { createHash } from "node:crypto";

import { thisPlatform } from "../assets/platform.ts";
import { ELASTICSEARCH_ENTRY_POINT, OPENSEARCH_ENTRY_POINT } from "./entry-points.ts";
import { OPEN_FILES_SOURCE } from "./open-files.ts";

/** A search engine of other people's. */
export type EngineName = "opensearch" | "elasticsearch";

/** Which engine, in which version. */
export interface EngineVersion {
  readonly engine: EngineName;
  readonly version: string;
}

/** What an image of an engine is made of: parts on Maven Central, and the layout of the official image. */
export interface EngineRecipe extends EngineVersion {
  /** The official image's name: manifests need no change. */
  readonly imageName: string;
  /** Coordinates of the whole engine, a zip. */
  readonly distribution: string;
  /** Coordinates of plugins, zips; they must match the engine's version exactly. */
  readonly plugins: readonly string[];
  /** Where the engine lies in the image. */
  readonly home: string;
  readonly user: string;
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Folder below the home with native code of the engine's, if it has any: the image needs the libraries of that too. */
  readonly nativeFolder?: string;
  /** Files of ours in the image, by path without a leading slash. */
  readonly scripts: Readonly<Record<string, string>>;
}

/**
 * Versions that can be had with their security: OpenSearch's plugin is on Maven Central for few versions. Others may be tried; what is
 * not there fails at once.
 */
export const ENGINE_VERSIONS: readonly EngineVersion[] = [
  { engine: "opensearch", version: "2.19.3" },
  { engine: "opensearch", version: "2.19.4" },
  { engine: "elasticsearch", version: "7.17.28" },
  { engine: "elasticsearch", version: "8.19.0" },
];

/** How the image of an engine is made. */
export function engineRecipe({ engine, version }: EngineVersion): EngineRecipe {
  return engine === "opensearch" ? opensearch(version) : elasticsearch(version);
}

/** Changes whenever the same engine would become another image; part of the cache's folder name. */
export function recipeHash(recipe: EngineRecipe): string {
  const text = JSON.stringify([RECIPE_FORMAT, recipe, OPEN_FILES_SOURCE]);
  return createHash("sha256").update(text).digest("hex").slice(0, 12);
}

/** Raised when the way in which images are put together changes. */
const RECIPE_FORMAT = 1;

function opensearch(version: string): EngineRecipe {
  const home = "/usr/share/opensearch";
  return {
    engine: "opensearch",
    version,
    imageName: `docker.io/opensearchproject/opensearch:${version}`,
    distribution: `org.opensearch.distribution.integ-test-zip:opensearch:${version}:zip`,
    plugins: [`org.opensearch.plugin:opensearch-security:${version}.0:zip`],
    home,
    user: "1000",
    entrypoint: ["./opensearch-docker-entrypoint.sh"],
    command: ["opensearch"],
    env: { PATH: `${home}/bin:/usr/bin:/usr/sbin`, JAVA_HOME: `${home}/jdk` },
    scripts: { "usr/share/opensearch/opensearch-docker-entrypoint.sh": OPENSEARCH_ENTRY_POINT },
  };
}

function elasticsearch(version: string): EngineRecipe {
  const home = "/usr/share/elasticsearch";
  return {
    engine: "elasticsearch",
    version,
    imageName: `docker.elastic.co/elasticsearch/elasticsearch:${version}`,
    distribution: `org.elasticsearch.distribution.integ-test-zip:elasticsearch:${version}:zip`,
    plugins: [],
    home,
    user: "1000:0",
    entrypoint: ["/usr/local/bin/docker-entrypoint.sh"],
    command: ["eswrapper"],
    // Since version 8. Without it the engine cannot ask for limits, takes them for too low and does not start.
    nativeFolder: `lib/platform/linux-${thisPlatform().arch === "arm64" ? "aarch64" : "x64"}`,
    env: { PATH: `${home}/bin:/usr/bin:/usr/sbin`, ES_JAVA_HOME: `${home}/jdk`, ELASTIC_CONTAINER: "true" },
    scripts: { "usr/local/bin/docker-entrypoint.sh": ELASTICSEARCH_ENTRY_POINT },
  };
}
