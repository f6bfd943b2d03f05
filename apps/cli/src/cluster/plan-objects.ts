import { type InstallPlan, resourceManifest } from "@quartermaster/api";
import {
  flattenList,
  laidOver,
  type ManifestSecret,
  objectProblems,
  resolveManifest,
} from "@quartermaster/install-plan/offline";
import { defineKind, type KubeObject } from "@quartermaster/runtime";

import { CliError } from "../errors.ts";
import type { Cluster } from "./connect.ts";

/** One object that a plan declares. */
export interface PlanObject {
  readonly stage: string;
  readonly object: JsonObject;
  /** Of the resource, above that of the plan. */
  readonly lifecycle: InstallPlan["spec"]["lifecycle"];
}

type JsonObject = Readonly<Record<string, unknown>>;

type Stage = InstallPlan["spec"]["stages"][number];
type Resource = NonNullable<Stage["resources"]>[number];

/** All objects of a plan, those in ResourceManifests and Secrets fetched. Throws when one of them cannot be had. */
export async function planObjects(
  { spec }: InstallPlan,
  cluster: Cluster,
  signal: AbortSignal,
): Promise<readonly PlanObject[]> {
  const objects: PlanObject[] = [];
  for (const { name: stage, resources = [] } of spec.stages) {
    const found = resources.map(async (resource) => {
      const lifecycle = laidOver(spec.lifecycle, resource.lifecycle);
      const content = await contentOf(resource, cluster, signal);
      return objectsIn(content).map((object) => ({ stage, object, lifecycle }));
    });
    objects.push(...(await Promise.all(found)).flat());
  }
  return objects;
}

function objectsIn(value: unknown): readonly JsonObject[] {
  const flattened = flattenList(value);
  if (flattened.kind === "refused") throw new CliError(flattened.message);
  return flattened.items.map((item) => {
    const [problem] = objectProblems(item);
    if (problem !== undefined)
      throw new CliError(`the plan contains an invalid object: ${problem.field} ${problem.message}`);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- objectFaults has found that it is an object
    return item as JsonObject;
  });
}

async function contentOf(
  { manifest, manifestRef }: Resource,
  cluster: Cluster,
  signal: AbortSignal,
): Promise<unknown> {
  if (manifestRef === undefined) return manifest;
  const { client, namespace } = cluster;
  const ref = { name: manifestRef.name, namespace };
  const found = await client.find(resourceManifest.kind, ref, { signal });
  if (found === undefined)
    throw new CliError(`ResourceManifest ${namespace}/${ref.name} does not exist; run qm pack --apply again`);
  const secret = await secretOf(found.spec.secretKeyRef?.name, cluster, signal);
  const resolved = resolveManifest(found, () => secret);
  if (resolved.kind === "ok") return resolved.value;
  throw new CliError(resolved.message);
}

interface Secret extends KubeObject, ManifestSecret {}

const secrets = defineKind<Secret>({
  group: "",
  version: "v1",
  kind: "Secret",
  plural: "secrets",
  scope: "Namespaced",
});

async function secretOf(
  name: string | undefined,
  { client, namespace }: Cluster,
  signal: AbortSignal,
): Promise<ManifestSecret | undefined> {
  return name === undefined ? undefined : await client.find(secrets, { name, namespace }, { signal });
}
