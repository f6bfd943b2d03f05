import { gzipSync } from "node:zlib";

import { installPlan, type InstallPlan, resourceManifest, type ResourceManifest } from "@quartermaster/api";
import { digestOf } from "@quartermaster/runtime";

import { identityOf } from "../../src/model/identity.ts";
import type { Packed } from "../../src/offline/index.ts";
import type { Workbench } from "./workbench.ts";

type Stored = Parameters<typeof identityOf>[0];

/** Where a manifest keeps its object (default: in itself). */
export type Kept = Partial<Pick<ResourceManifest["spec"], "data" | "secretKeyRef">>;

/** The name of the manifest that holds an object: by its digest, as the packer names them. */
export function storedName(object: Stored): string {
  return `rm-${digestOf(object).slice(0, 16)}`;
}

/** Puts an object into a ResourceManifest, or something else into one that says it holds the object. */
export async function store(bench: Workbench, object: Stored, kept?: Kept): Promise<ResourceManifest> {
  const content = kept ?? { manifest: object };
  const encoding = kept?.data === undefined ? {} : { encoding: "gzip" };
  const manifest = {
    apiVersion: "install.quartermaster.dev/v1alpha1",
    kind: "ResourceManifest",
    metadata: { name: storedName(object), namespace: bench.namespace },
    spec: { sha256: digestOf(object), ...content, ...encoding },
  };
  return await bench.client.create(resourceManifest.kind, manifest as unknown as ResourceManifest);
}

/** Puts an object into a ResourceManifest of this name as packed data, which the API server does not look into. */
export async function storeAs(bench: Workbench, name: string, object: Stored): Promise<ResourceManifest> {
  const manifest = {
    apiVersion: "install.quartermaster.dev/v1alpha1",
    kind: "ResourceManifest",
    metadata: { name, namespace: bench.namespace },
    spec: { sha256: digestOf(object), data: packed(object), encoding: "gzip" as const },
  };
  return await bench.client.create(resourceManifest.kind, manifest);
}

/** The resource of a stage that refers to the manifest of an object. */
export function reference(object: Stored, name: string = storedName(object)): object {
  return { manifestRef: { name, sha256: digestOf(object), object: identityOf(object) } };
}

/** An object as packed data. */
export function packed(object: Stored): string {
  return gzipSync(JSON.stringify(object)).toString("base64");
}

/** Creates everything that was packed: the manifests, then the plan. */
export async function createPacked(bench: Workbench, { manifests, plan }: Packed): Promise<void> {
  const objects = manifests as unknown as readonly ResourceManifest[];
  for (const manifest of objects) await bench.client.create(resourceManifest.kind, manifest);
  await bench.client.create(installPlan.kind, plan as unknown as InstallPlan);
}
