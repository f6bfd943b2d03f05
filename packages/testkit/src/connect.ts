import { readFile } from "node:fs/promises";

import {
  type Client,
  type ClusterConfig,
  createClient,
  createTransport,
  type Kind,
  type KubeObject,
  realSystem,
  type Transport,
} from "@quartermaster/runtime";
import { customResourceDefinitions } from "@quartermaster/runtime/kinds";
import { parse } from "yaml";

import { eventually } from "./eventually.ts";

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

/** Connects with a token: our own client, for tests of what stands on it. */
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
    tls: { cas: fixed<string | undefined>(caPem), insecure: false },
    credentials: fixed({ token }),
    namespace: "default",
    contextName: "tests",
  };
}

/** Applies the committed definitions of kinds of ours and waits until they are served. The run's control plane has them all from the start. */
export async function serveKinds(client: Client, kinds: readonly Kind[]): Promise<void> {
  for (const kind of kinds) {
    const file = new URL(`../../../config/crd/${kind.group}_${kind.plural}.yaml`, import.meta.url);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a generated file of ours; the server judges it
    const definition = parse(await readFile(file, "utf8")) as KubeObject;
    await client.apply(customResourceDefinitions, definition, { fieldManager: "tests", force: true });
    await eventually(async () => (await client.listPage(kind, { pageSize: 1 })) !== undefined);
  }
}
