import { podDialect } from "../distributions/distributions.ts";
import {
  certificateDirectory,
  fileRealmDirectory,
  securityFilesDirectory,
} from "../distributions/pod-dialect.ts";
import type { KeystoreEntry, SearchCluster } from "../model/search-cluster.ts";
import { attributeArguments } from "./attribute-annotation.ts";

/** Name of the init container that composes the configuration. */
export const prepareContainer = "prepare";
/** Where `prepare` writes, as it sees it. */
export const preparedPath = "/prepared";
/** Where `prepare` finds the settings of the pool. */
export const wantedPath = "/wanted";
/** Where `prepare` finds the names of the first managers. */
export const bootstrapPath = "/bootstrap";
/** Key of the ConfigMap with the names of the first managers. */
export const bootstrapKey = "initial-managers.yml";

/** Where `prepare` finds the content of the `index`th entry for the keystore. */
export function keystorePath(index: number): string {
  return `/keystore/${String(index)}`;
}

/**
 * The command of `prepare`: a fixed script, and after it the author's words as arguments. No word of theirs is ever part of a script.
 */
export function prepareCommand(
  cluster: SearchCluster,
  { allowsMmap }: { readonly allowsMmap: boolean },
): readonly string[] {
  const { engine, settingsFile, hasFileRealm } = podDialect(cluster);
  return [
    "/bin/bash",
    "-c",
    prepareScript,
    prepareContainer,
    ...preparePaths(cluster),
    engine,
    settingsFile,
    allowsMmap ? "given" : "auto",
    hasFileRealm && cluster.security.isEnabled ? "file-realm" : "no-file-realm",
    ...cluster.keystore.flatMap(keystoreArguments),
    ...attributeArguments(cluster),
    "--",
    ...cluster.plugins,
  ];
}

/** Arguments too, so that the script names no path: it is tested as it is. */
function preparePaths({ home }: SearchCluster): readonly string[] {
  return [home, preparedPath, wantedPath, `${bootstrapPath}/${bootstrapKey}`, "/dev/termination-log"];
}

function keystoreArguments({ keys }: KeystoreEntry, index: number): readonly string[] {
  const directory = keystorePath(index);
  const named = Object.keys(keys).toSorted();
  if (named.length === 0) return ["all", directory];
  return named.flatMap((key) => ["one", `${directory}/${key}`, keys[key] === "" ? key : (keys[key] ?? key)]);
}

/** What `prepare` said when it ended; empty when it had nothing to say. The node starts without mmap if it begins so. */
export const mmapDisabled = "MmapDisabled";

/** What OpenSearch and Elasticsearch ask of `vm.max_map_count` before they use mmap. */
const wantedMaps = 262_144;

/**
 * Runs in the engine's own image, so that the engine's tools and files are those of its version. Plugins are installed from a copy of
 * the home, because the real one is read-only; only what differs is copied.
 * The tools read the settings too, and must not stumble over an author's: those come last. It may run again in the same pod, and starts again then.
 */
const prepareScript = `
set -euo pipefail
home=$1 prepared=$2 wanted=$3 bootstrap=$4 report=$5; shift 5
engine=$1 settings=$2 mmap=$3 realm=$4; shift 4
config=$prepared/config
umask 0027
rm -rf "$config" "$prepared/bin" "$prepared/plugins"
mkdir -p "$config"
cp -R "$home/config/." "$config/"
chmod -R u+rwX "$config"
mkdir -p "$config/${certificateDirectory}" "$config/${fileRealmDirectory}" "$config/${securityFilesDirectory}"
if [ "$realm" = file-realm ]; then
  for file in users users_roles roles.yml; do ln -sf "${fileRealmDirectory}/$file" "$config/$file"; done
fi
export OPENSEARCH_PATH_CONF=$config ES_PATH_CONF=$config
pairs=() attributes=()
while [ "$1" != -- ]; do
  case "$1" in
    all) for file in "$2"/*; do pairs+=("$(basename "$file")" "$file"); done; shift 2 ;;
    one) pairs+=("$3" "$2"); shift 3 ;;
    attribute) attributes+=("$3" "$2"); shift 3 ;;
  esac
done
shift
if [ "\${#pairs[@]}" -gt 0 ]; then
  if [ ! -e "$config/$engine.keystore" ]; then "$home/bin/$engine-keystore" create; fi
  "$home/bin/$engine-keystore" add-file --force -- "\${pairs[@]}"
fi
if [ $# -gt 0 ]; then
  cp -R "$home/bin" "$home/plugins" "$prepared/"
  for part in "$home"/*; do
    name=$(basename "$part")
    if [ ! -e "$prepared/$name" ]; then ln -s "$part" "$prepared/$name"; fi
  done
  for plugin in "$@"; do
    if [ ! -d "$prepared/plugins/$plugin" ]; then
      "$prepared/bin/$engine-plugin" install --batch -- "$plugin"
    fi
  done
fi
cat "$wanted/$settings" > "$config/$settings"
if [ -s "$bootstrap" ]; then cat "$bootstrap" >> "$config/$settings"; fi
# Older shells take an empty list for an unset variable.
set -- \${attributes[@]+"\${attributes[@]}"}
while [ $# -gt 0 ]; do
  until [ -s "$2" ]; do sleep 1; done
  printf 'node.attr.%s: "%s"\\n' "$1" "$(tr -cd 'A-Za-z0-9._-' < "$2")" >> "$config/$settings"
  shift 2
done
maps=$(cat /proc/sys/vm/max_map_count)
if [ "$mmap" = auto ] && [ "$maps" -lt ${wantedMaps} ]; then
  echo 'node.store.allow_mmap: false' >> "$config/$settings"
  echo "${mmapDisabled}: vm.max_map_count of the machine is $maps, and mmap needs ${wantedMaps}" | tee "$report"
fi
`;
