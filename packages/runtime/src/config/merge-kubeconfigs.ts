import type { Kubeconfig } from "./kubeconfig.ts";

/** Something a file says, with where it says it: paths in it are relative to the file, faults are reported with the field. */
export interface Located<T> {
  readonly value: T;
  readonly file: string;
  /** Path of the entry, e.g. `users[0].user`. */
  readonly field: string;
}

/** What several files say together. Entries are checked when they are used. */
export interface MergedConfig {
  readonly clusters: ReadonlyMap<string, Located<unknown>>;
  readonly users: ReadonlyMap<string, Located<unknown>>;
  readonly contexts: ReadonlyMap<string, Located<unknown>>;
  readonly currentContext: string | undefined;
  readonly files: readonly string[];
}

/** Merges as kubectl does: the file that names an entry first, and the first current-context, wins. */
export function mergeKubeconfigs(
  configs: readonly { readonly file: string; readonly config: Kubeconfig }[],
): MergedConfig {
  const clusters = new Map<string, Located<unknown>>();
  const users = new Map<string, Located<unknown>>();
  const contexts = new Map<string, Located<unknown>>();
  for (const { file, config } of configs) {
    for (const [index, { name, cluster }] of config.clusters.entries()) {
      keepFirst(clusters, name, { value: cluster, file, field: `clusters[${index}].cluster` });
    }
    for (const [index, { name, user }] of config.users.entries()) {
      keepFirst(users, name, { value: user ?? {}, file, field: `users[${index}].user` });
    }
    for (const [index, { name, context }] of config.contexts.entries()) {
      keepFirst(contexts, name, { value: context, file, field: `contexts[${index}].context` });
    }
  }
  const currentContext = configs.map(({ config }) => config["current-context"] ?? "").find(Boolean);
  return { clusters, users, contexts, currentContext, files: configs.map(({ file }) => file) };
}

function keepFirst<T>(map: Map<string, T>, name: string, entry: T): void {
  if (!map.has(name)) map.set(name, entry);
}
