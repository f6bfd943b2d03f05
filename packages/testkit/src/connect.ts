import { createHash } from "node:crypto";
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
import { customResourceDefinitions, namespaces } from "@quartermaster/runtime/kinds";
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
    tls: { authorities: fixed<string | undefined>(caPem), insecure: false },
    credentials: fixed({ token }),
    namespace: "default",
    contextName: "tests",
  };
}

/**
 * Applies the committed definitions of kinds of ours and waits until they are served. They are the same for all, so files may share a
 * server: one that it already has is not applied again, which takes a tenth of a second of CPU time on both sides for a large one.
 */
export async function serveKinds(client: Client, kinds: readonly Kind[]): Promise<void> {
  const { metadata } = await client.get(namespaces, { name: "kube-system" });
  for (const kind of kinds) {
    const key = `${metadata.uid} ${kind.group}/${kind.plural}`;
    const serving = served.get(key) ?? serveKind(client, kind);
    served.set(key, serving);
    await serving;
  }
}

/** By uid of the namespace that each server has, and kind. */
const served = new Map<string, Promise<void>>();

async function serveKind(client: Client, kind: Kind): Promise<void> {
  const file = new URL(`../../../config/crd/${kind.group}_${kind.plural}.yaml`, import.meta.url);
  const text = await readFile(file, "utf8");
  const digest = createHash("sha256").update(text).digest("hex");
  const found = await client.find(customResourceDefinitions, { name: `${kind.plural}.${kind.group}` });
  if (found?.metadata.annotations?.[digestAnnotation] !== digest) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a generated file of ours; the server judges it
    const { metadata, ...definition } = parse(text) as KubeObject;
    const annotations = { ...metadata.annotations, [digestAnnotation]: digest };
    const annotated = { ...definition, metadata: { ...metadata, annotations } };
    await client.apply(customResourceDefinitions, annotated, { fieldManager: "tests", force: true });
  }
  await eventually(async () => (await client.listPage(kind, { pageSize: 1 })) !== undefined);
}

/** The committed file that a definition was applied from. */
const digestAnnotation = "tests.quartermaster.dev/digest";
