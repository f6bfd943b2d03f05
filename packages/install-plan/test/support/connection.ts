import {
  type Client,
  type ClusterConfig,
  createClient,
  createTransport,
  realSystem,
  type Transport,
} from "@quartermaster/runtime";

/** Where a server is, and who speaks. */
export interface Access {
  readonly server: string;
  readonly caPem: string;
  readonly token: string;
}

/** A connection of its own; ends with its scope. */
export interface Connection extends AsyncDisposable {
  readonly client: Client;
  readonly transport: Transport;
}

/** Connects with a token. */
export function connect(access: Access): Connection {
  const transport = createTransport({ config: configOf(access), system: realSystem() });
  return {
    client: createClient({ transport }),
    transport,
    [Symbol.asyncDispose]: async () => await transport[Symbol.asyncDispose](),
  };
}

function configOf({ server, caPem, token }: Access): ClusterConfig {
  const fixed = <T>(value: T): { current(): T; refresh(): Promise<T> } => ({
    current: () => value,
    refresh: async () => await Promise.resolve(value),
  });
  return {
    server,
    tls: { authorities: fixed<string | undefined>(caPem), insecure: false },
    credentials: fixed({ token }),
    namespace: "default",
    contextName: "tests",
  };
}
