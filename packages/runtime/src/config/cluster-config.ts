import type { Source } from "./source.ts";

/** How to reach one cluster, and as whom. */
export interface ClusterConfig {
  /** Address of the API server; may end in a path. */
  readonly server: string;
  readonly tls: TlsConfig;
  /** Proxy on the way to the server, as a URL. */
  readonly proxyUrl?: string;
  readonly credentials: Source<Credential>;
  /** As whom every request is made, unless it says otherwise. */
  readonly impersonate?: Impersonation;
  /** Namespace of the context (default: `default`). */
  readonly namespace: string;
  /** `in-cluster` where there is no kubeconfig. */
  readonly contextName: string;
}

/** How the server proves itself. */
export interface TlsConfig {
  /** Authorities to trust as PEM; undefined means those of the machine. */
  readonly authorities: Source<string | undefined>;
  /** Name that the certificate must carry, where it is not that of the address. */
  readonly serverName?: string;
  /** Any certificate will do. */
  readonly insecure: boolean;
}

/** How we prove ourselves: any of these, or none. Never to be printed. */
export interface Credential {
  readonly token?: string;
  readonly basic?: { readonly username: string; readonly password: string };
  readonly certificate?: { readonly certPem: string; readonly keyPem: string };
}

/** Speaking as somebody else; the server checks the right to. */
export interface Impersonation {
  readonly user: string;
  readonly groups?: readonly string[];
  readonly uid?: string;
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}
