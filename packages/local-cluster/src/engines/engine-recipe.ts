import { createHash } from "node:crypto";

import { thisPlatform } from "../assets/platform.ts";

/** A search engine of other people's. */
export type EngineName = "opensearch" | "elasticsearch";

/** Which engine, in which version. */
export interface EngineVersion {
  readonly engine: EngineName;
  readonly version: string;
}

/** Content of an engine's image: parts on Maven Central, and the layout of the official image. */
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
  /** Directory below the home with native code of the engine's, if it has any: the image needs the libraries of that too. */
  readonly nativeDirectory?: string;
  /** Files of ours in the image, by path without a leading slash. */
  readonly scripts: Readonly<Record<string, string>>;
}

/**
 * Versions that can be had with their security: OpenSearch's plugin is on Maven Central for few versions. Others may be tried; what is
 * not there fails immediately.
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

/** Changes whenever the same engine would become another image; part of the cache's directory name. */
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
    // Since version 8. Without it the engine cannot request limits, takes them for too low and does not start.
    nativeDirectory: `lib/platform/linux-${thisPlatform().arch === "arm64" ? "aarch64" : "x64"}`,
    env: { PATH: `${home}/bin:/usr/bin:/usr/sbin`, ES_JAVA_HOME: `${home}/jdk`, ELASTIC_CONTAINER: "true" },
    scripts: { "usr/local/bin/docker-entrypoint.sh": ELASTICSEARCH_ENTRY_POINT },
  };
}

/** How many open files engines request, and a little more than that. */
const WANTED_OPEN_FILES = 65_536;

/** Where the library lies in an image, without a leading slash. */
export const OPEN_FILES_LIBRARY = "usr/lib/local-image/open-files.so";

/**
 * Reports a limit of open files that engines accept. It changes no limit. Never part of anything that runs
 * in production: engines in local images load it where the machine leaves no other way.
 */
export const OPEN_FILES_SOURCE = `#define _GNU_SOURCE
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static int answer(int resource, struct rlimit64 *limit) {
  if (syscall(SYS_prlimit64, 0, resource, (void *)0, limit) != 0) return -1;
  if (resource == RLIMIT_NOFILE && limit->rlim_max < ${WANTED_OPEN_FILES}) limit->rlim_cur = limit->rlim_max = ${WANTED_OPEN_FILES};
  return 0;
}

int getrlimit64(__rlimit_resource_t resource, struct rlimit64 *limit) { return answer((int)resource, limit); }
int getrlimit(__rlimit_resource_t resource, struct rlimit *limit) { return answer((int)resource, (struct rlimit64 *)limit); }
`;

/**
 * Engines refuse to start on an address that others reach unless they may open this many files. Where the machine's hard limit is lower
 * and cannot be raised, a library of ours reports a higher one, and the log says so: this is for local clusters only.
 */
const MIND_OPEN_FILES = `
hard=$(ulimit -Hn)
if [ "$hard" != unlimited ] && [ "$hard" -lt ${WANTED_OPEN_FILES} ]; then
  ulimit -Sn "$hard"
  export LD_PRELOAD=/${OPEN_FILES_LIBRARY}
  echo "local image: this machine allows $hard open files, fewer than the engine requires; it gets ${WANTED_OPEN_FILES} (LD_PRELOAD)"
fi`;

/** Variables such as `cluster.name` become settings, as in the official images. */
const READ_VARIABLES = `
options=()
while IFS='=' read -r -d '' name value; do
  if [[ "$name" =~ ^[a-z0-9_]+\\.[a-z0-9_]+ && -n "$value" ]]; then options+=("-E$name=$value"); fi
done < <(env -0)`;

/** Does what the official entry point does with the variables that operators use; there is no demonstration to install. */
const OPENSEARCH_ENTRY_POINT = `#!/usr/bin/env bash
# Entry point of a local image of OpenSearch, written for tests.
set -euo pipefail
umask 0002
cd /usr/share/opensearch
if [ "$(id -u)" = 0 ]; then echo "OpenSearch cannot run as root"; exit 1; fi
${MIND_OPEN_FILES}
${READ_VARIABLES}
if [ "\${DISABLE_SECURITY_PLUGIN:-}" = true ]; then options+=("-Eplugins.security.disabled=true"); fi
if [ "\${1:-opensearch}" = opensearch ]; then
  shift || true
  exec bin/opensearch "$@" "\${options[@]}"
fi
exec "$@"
`;

/** The same for Elasticsearch. */
const ELASTICSEARCH_ENTRY_POINT = `#!/usr/bin/env bash
# Entry point of a local image of Elasticsearch, written for tests.
set -euo pipefail
umask 0002
cd /usr/share/elasticsearch
if [ "$(id -u)" = 0 ]; then echo "Elasticsearch cannot run as root"; exit 1; fi
${MIND_OPEN_FILES}
${READ_VARIABLES}
if [ "\${1:-eswrapper}" = eswrapper ]; then
  shift || true
  exec bin/elasticsearch "$@" "\${options[@]}"
fi
exec "$@"
`;
