import type { ClusterConfig, Credential } from "../config/cluster-config.ts";
import { combineSources, type Source } from "../config/source.ts";
import type { TlsMaterial } from "./connections.ts";

/** What we show to the server: on the connection and in the header. */
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

/** Who we are at the moment, built anew only when a credential or the authorities changed. */
export class Identity {
  readonly #source: Source<Presented>;

  constructor({ credentials, tls }: Pick<ClusterConfig, "credentials" | "tls">) {
    this.#source = combineSources(
      credentials,
      tls.authorities,
      (credential, caPem) => new Presented(credential, caPem),
    );
  }

  current(): Presented | Promise<Presented> {
    return this.#source.current();
  }

  async refresh(): Promise<Presented> {
    return await this.#source.refresh();
  }
}

function authorizationOf({ token, basic }: Credential): string | undefined {
  if (token !== undefined && token !== "") return `Bearer ${token}`;
  if (basic === undefined) return undefined;
  return `Basic ${Buffer.from(`${basic.username}:${basic.password}`).toString("base64")}`;
}
