/** How to reach one cluster, and as whom. */
export interface ClusterConfig {
  /** Address of the API server; may end in a path. */
  readonly server: string;
  readonly tls: TlsConfig;
  /** Proxy on the way to the server, as a URL. */
  readonly proxyUrl?: string | undefined;
  readonly credentials: Source<Credential>;
  /** As whom every request is made, unless it says otherwise. */
  readonly impersonate?: Impersonation | undefined;
  /** Namespace of the context (default: `default`). */
  readonly namespace: string;
  /** `in-cluster` where there is no kubeconfig. */
  readonly contextName: string;
}

/** How the server proves itself. */
export interface TlsConfig {
  /** CAs to trust as PEM; undefined means those of the machine. */
  readonly cas: Source<string | undefined>;
  /** Name that the certificate must carry, where it is not that of the address. */
  readonly serverName?: string | undefined;
  /** Any certificate will do. */
  readonly insecure: boolean;
}

/** How we prove ourselves: any of these, or none. Never to be printed. */
export interface Credential {
  readonly token?: string | undefined;
  readonly basic?: { readonly username: string; readonly password: string } | undefined;
  readonly certificate?: { readonly certPem: string; readonly keyPem: string } | undefined;
}

/** Impersonation; the server checks the right to. */
export interface Impersonation {
  readonly user: string;
  readonly groups?: readonly string[] | undefined;
  readonly uid?: string | undefined;
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined;
}

/** A value that may change while we run: a file's content, a plugin's output. */
export interface Source<T> {
  /** The current value; a promise only where it must be fetched first. The same value as before while nothing changed. */
  current(): T | Promise<T>;
  /** Fetches afresh, because the server refused what `current` gave. Callers at the same time share one fetch. */
  refresh(): Promise<T>;
}

/** A value that never changes. */
export function fixedSource<T>(value: T): Source<T> {
  return { current: () => value, refresh: async () => await Promise.resolve(value) };
}

/** One value made of several sources, and made again only when one of them changed. */
export function combineSources<A, B, T>(
  first: Source<A>,
  second: Source<B>,
  combine: (first: A, second: B) => T,
): Source<T> {
  let made: { readonly a: A; readonly b: B; readonly value: T } | undefined;
  const make = (a: A, b: B): T => {
    if (made === undefined || made.a !== a || made.b !== b) made = { a, b, value: combine(a, b) };
    return made.value;
  };
  return {
    current: () => {
      const a = first.current();
      const b = second.current();
      if (a instanceof Promise || b instanceof Promise) {
        return Promise.all([a, b]).then(([x, y]) => make(x, y));
      }
      return make(a, b);
    },
    refresh: async () => {
      const [a, b] = await Promise.all([first.refresh(), second.refresh()]);
      return make(a, b);
    },
  };
}
