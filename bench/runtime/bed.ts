import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { type LocalCluster, startLocalCluster } from "@quartermaster/local-cluster";
import {
  type Client,
  createClient,
  createTransport,
  defineKind,
  type Kind,
  type KubeObject,
  loadConfig,
  realSystem,
} from "@quartermaster/runtime";
import { eventually } from "@quartermaster/testkit";

import { copies } from "../contestants/kinds.ts";
import type { Settings } from "../contestants/settings.ts";
import { copyDefinition } from "./objects.ts";

/** The one API server on which all contestants are measured. */
export interface Bed extends AsyncDisposable {
  readonly cluster: LocalCluster;
  readonly client: Client;
  /** For what a part writes down. */
  readonly directory: string;
  /** Sizes are a fraction of the full ones. */
  readonly isQuick: boolean;
  /** How long the idle row looks on. */
  readonly idleMinutes: number;
  /** Told to a contestant as its argument. */
  settings(facts: Partial<Settings> & Pick<Settings, "namespace">): string;
  /** Makes a namespace with objects of a kind. */
  fill<O extends KubeObject>(namespace: string, kind: Kind<O>, objects: readonly O[]): Promise<void>;
}

const namespaces = defineKind({
  group: "",
  version: "v1",
  kind: "Namespace",
  plural: "namespaces",
  scope: "Cluster",
});

const definitions = defineKind({
  group: "apiextensions.k8s.io",
  version: "v1",
  kind: "CustomResourceDefinition",
  plural: "customresourcedefinitions",
  scope: "Cluster",
});

/** Starts a control plane that audits only what the idle row looks at. */
export async function makeBed({ isQuick, idleMinutes }: Pick<Bed, "isQuick" | "idleMinutes">): Promise<Bed> {
  const stack = new AsyncDisposableStack();
  const cluster = stack.use(await startLocalCluster({ kwokNodes: 0, audit: idleOnly }));
  const system = realSystem();
  const config = await loadConfig({ system, kubeconfigPath: cluster.kubeconfigPath });
  const client = createClient({ transport: stack.use(createTransport({ config, system })) });
  const directory = mkdtempSync(join(tmpdir(), "qm-bench-"));
  stack.defer(() => {
    rmSync(directory, { recursive: true, force: true });
  });
  await client.create(definitions, copyDefinition);
  await eventually(async () => await client.listPage(copies, { pageSize: 1 }));
  const { server, caPem, token = "" } = cluster.admin;
  const access = {
    server,
    caPem,
    token,
    kubeconfigPath: cluster.kubeconfigPath,
    serviceAccountDirectory: "",
  };
  return {
    cluster,
    client,
    directory,
    isQuick,
    idleMinutes,
    settings: (facts) => JSON.stringify({ ...access, directory, count: 0, plural: "copies", ...facts }),
    fill: async (name, kind, objects) => {
      await client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
      await createAll(client, kind, objects);
    },
    [Symbol.asyncDispose]: async () => {
      await stack.disposeAsync();
    },
  };
}

/** Namespace whose requests are audited. */
export const idleNamespace = "idle";

const idleOnly = {
  apiVersion: "audit.k8s.io/v1",
  kind: "Policy",
  omitStages: ["RequestReceived"],
  rules: [
    { level: "Metadata", nonResourceURLs: ["/version"] },
    { level: "Metadata", namespaces: [idleNamespace] },
    { level: "None" },
  ],
};

async function createAll<O extends KubeObject>(
  client: Client,
  kind: Kind<O>,
  objects: readonly O[],
): Promise<void> {
  const queue = objects.values();
  const worker = async (): Promise<void> => {
    for (const object of queue) await client.create(kind, object);
  };
  await Promise.all(Array.from({ length: 32 }, worker));
}
