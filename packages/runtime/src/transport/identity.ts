import {
  type ClusterConfig,
  combineSources,
  type Credential,
  type Source,
} from "../config/cluster-config.ts";
import { ConfigError } from "../errors.ts";
import type { TlsMaterial } from "./connections.ts";

/** Credentials for the server: on the connection and in the header. */
export class Presented {
  readonly tls: TlsMaterial;
  /** Value of the Authorization header. */
  readonly authorization: string | undefined;

  constructor(credential: Credential, caPem: string | undefined) {
    const { certificate } = credential;
    this.tls = { caPem, certPem: certificate?.certPem, keyPem: certificate?.keyPem };
    this.authorization = authorizationOf(credential);
  }

  /** Whether the server would see no difference. */
  isSameAs(other: Presented): boolean {
    return (
      this.authorization === other.authorization &&
      this.tls.certPem === other.tls.certPem &&
      this.tls.keyPem === other.tls.keyPem
    );
  }
}

/** Who we are at the moment, built again only when a credential or the CAs changed. */
export class Identity {
  readonly #source: Source<Presented>;

  constructor({ credentials, tls, server }: Pick<ClusterConfig, "credentials" | "tls" | "server">) {
    const isPlain = server.startsWith("http:");
    this.#source = combineSources(credentials, tls.cas, (credential, caPem) => {
      const presented = new Presented(credential, caPem);
      if (isPlain && presented.authorization !== undefined) throw plainError();
      return presented;
    });
  }

  current(): Presented | Promise<Presented> {
    return this.#source.current();
  }

  async refresh(): Promise<Presented> {
    return await this.#source.refresh();
  }
}

/** The last line of defence: the configuration may come from anywhere, and `exec` makes tokens at any time. */
function plainError(): ConfigError {
  const problem = "a token or password must not be sent over http:; use an https: server";
  return new ConfigError(problem, { code: "configInsecure" });
}

function authorizationOf({ token, basic }: Credential): string | undefined {
  if (token !== undefined && token !== "") return `Bearer ${token}`;
  if (basic === undefined) return undefined;
  return `Basic ${Buffer.from(`${basic.username}:${basic.password}`).toString("base64")}`;
}
