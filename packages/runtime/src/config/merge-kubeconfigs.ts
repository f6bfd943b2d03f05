import type { ClusterEntry, ContextEntry, Kubeconfig, UserEntry } from "./kubeconfig.ts";

/** Something a file says, with where it says it: paths in it are relative to the file, faults are reported with the field. */
export interface Located<T> {
  readonly value: T;
  readonly file: string;
  /** Path of the entry, e.g. `users[0].user`. */
  readonly field: string;
}

/** What several files say together. */
export interface MergedConfig {
  readonly clusters: ReadonlyMap<string, Located<ClusterEntry>>;
  readonly users: ReadonlyMap<string, Located<UserEntry>>;
  readonly contexts: ReadonlyMap<string, Located<ContextEntry>>;
  readonly currentContext: string | undefined;
  readonly files: readonly string[];
}

/** Merges as kubectl does: whoever names an entry first, and the first current-context, wins. */
export function mergeKubeconfigs(
  configs: readonly { readonly file: string; readonly config: Kubeconfig }[],
): MergedConfig {
  const clusters = new Map<string, Located<ClusterEntry>>();
  const users = new Map<string, Located<UserEntry>>();
  const contexts = new Map<string, Located<ContextEntry>>();
  for (const { file, config } of configs) {
    for (const [index, { name, cluster }] of config.clusters.entries()) {
      keepFirst(clusters, name, { value: cluster, file, field: `clusters[${index}].cluster` });
    }
    for (const [index, { name, user }] of config.users.entries()) {
      keepFirst(users, name, { value: user ?? nobody, file, field: `users[${index}].user` });
    }
    for (const [index, { name, context }] of config.contexts.entries()) {
      keepFirst(contexts, name, { value: context, file, field: `contexts[${index}].context` });
    }
  }
  const currentContext = configs.map(({ config }) => config["current-context"] ?? "").find(Boolean);
  return { clusters, users, contexts, currentContext, files: configs.map(({ file }) => file) };
}

/** A user without credentials. */
export const nobody: UserEntry = { "as-groups": [] };

function keepFirst<T>(map: Map<string, T>, name: string, entry: T): void {
  if (!map.has(name)) map.set(name, entry);
}
