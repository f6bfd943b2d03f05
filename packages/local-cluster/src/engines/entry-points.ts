import { OPEN_FILES_LIBRARY, WANTED_OPEN_FILES } from "./open-files.ts";

/**
 * Engines refuse to start on an address that others reach unless they may open this many files. Where the machine's hard limit is lower
 * and cannot be raised, a library of ours answers for the kernel, and the log says so: this is for local clusters only.
 */
const MIND_OPEN_FILES = `
hard=$(ulimit -Hn)
if [ "$hard" != unlimited ] && [ "$hard" -lt ${WANTED_OPEN_FILES} ]; then
  ulimit -Sn "$hard"
  export LD_PRELOAD=/${OPEN_FILES_LIBRARY}
  echo "local image: this machine allows $hard open files, fewer than the engine asks for; it is told ${WANTED_OPEN_FILES} (LD_PRELOAD)"
fi`;

/** Variables such as `cluster.name` become settings, as in the official images. */
const READ_VARIABLES = `
options=()
while IFS='=' read -r -d '' name value; do
  if [[ "$name" =~ ^[a-z0-9_]+\\.[a-z0-9_]+ && -n "$value" ]]; then options+=("-E$name=$value"); fi
done < <(env -0)`;

/** Does what the official entry point does with the variables that operators use; there is no demonstration to install. */
export const OPENSEARCH_ENTRY_POINT = `#!/usr/bin/env bash
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
export const ELASTICSEARCH_ENTRY_POINT = `#!/usr/bin/env bash
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
