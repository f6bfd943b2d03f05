/** Parts of a kubeconfig that a test cares about. */
export interface KubeconfigOptions {
  readonly cluster?: Readonly<Record<string, unknown>>;
  readonly user?: Readonly<Record<string, unknown>> | null;
  readonly context?: Readonly<Record<string, unknown>>;
  /** Stem of all names (default: `a`). */
  readonly name?: string;
}

/** A kubeconfig with one cluster, user and context of one name. */
export function kubeconfig({ cluster, user = {}, context, name = "a" }: KubeconfigOptions = {}): object {
  return {
    apiVersion: "v1",
    kind: "Config",
    "current-context": name,
    clusters: [{ name, cluster: { server: `https://${name}.example:6443`, ...cluster } }],
    users: [{ name, user }],
    contexts: [{ name, context: { cluster: name, user: name, ...context } }],
  };
}
