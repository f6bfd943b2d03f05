import { chmodSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";

import { z } from "zod";

import type { ApiAnswer, ApiClient } from "../api/api-client.ts";
import { volumesFolder } from "./node-paths.ts";
import type { Volume, VolumeToMake } from "./volume-plan.ts";
import { claimSchema, desiredVolume, planVolumes, volumeSchema } from "./volume-plan.ts";

/** The versions of the two lists that a pass was based on. */
export interface SeenVersions {
  readonly claims: string;
  readonly volumes: string;
}

/** Looks at all claims and volumes once and does what is to be done. Returns what it has seen, to wait for changes from there. */
export async function provisionVolumes(folder: string, api: ApiClient): Promise<SeenVersions> {
  const claims = claimList.parse(await read("/api/v1/persistentvolumeclaims", api));
  const volumes = volumeList.parse(await read("/api/v1/persistentvolumes", api));
  const { make, remove } = planVolumes(claims.items, volumes.items);
  for (const volume of make) await makeVolume(folder, volume, api);
  for (const volume of remove) await removeVolume(folder, volume, api);
  return { claims: claims.metadata.resourceVersion, volumes: volumes.metadata.resourceVersion };
}

const listMetadata = z.object({ resourceVersion: z.string() });
const claimList = z.object({ metadata: listMetadata, items: z.array(claimSchema) });
const volumeList = z.object({ metadata: listMetadata, items: z.array(volumeSchema) });

/** Its folder may be written by everybody: who runs in the pod is not known here. */
async function makeVolume(folder: string, volume: VolumeToMake, api: ApiClient): Promise<void> {
  const path = join(volumesFolder(folder, volume.node), volume.volumeName);
  mkdirSync(path, { recursive: true });
  chmodSync(path, 0o777);
  await api.apply(`/api/v1/persistentvolumes/${volume.volumeName}`, desiredVolume(volume, path));
}

/** The data goes first: a volume that is cut off here is still on the list and is removed by the next pass. */
async function removeVolume(folder: string, { metadata, spec }: Volume, api: ApiClient): Promise<void> {
  const path = spec.local?.path;
  if (path?.startsWith(`${join(folder, "nodes")}/`) === true) rmSync(path, { recursive: true, force: true });
  expectSuccess(await api.send({ method: "DELETE", path: `/api/v1/persistentvolumes/${metadata.name}` }));
}

async function read(path: string, api: ApiClient): Promise<unknown> {
  return JSON.parse(expectSuccess(await api.send({ path })).body);
}

function expectSuccess(answer: ApiAnswer): ApiAnswer {
  if (answer.status < 300 || answer.status === 404) return answer;
  throw new Error(`the API server answered ${answer.status}: ${answer.body.slice(0, 300)}`);
}
