import { readFileSync } from "node:fs";

import { z } from "zod";

import { ApiClient } from "../api/api-client.ts";
import { realSystem } from "../system/system.ts";
import { followList } from "./followed-list.ts";
import { claimSchema, provisionVolumes, volumeSchema } from "./provision-volumes.ts";

/**
 * Entry point of the volume provisioner: `node volume-provisioner.ts <directory> <access file>`. Makes a volume for each claim
 * of the default StorageClass once its pod has a node, and removes it with its data when the claim no longer exists.
 */
const [directory, accessFile] = process.argv.slice(2);
if (directory === undefined || accessFile === undefined)
  throw new Error("the provisioner needs the cluster's directory and a file that says how to reach it");
const access = z
  .object({ server: z.string(), caPem: z.string(), token: z.string() })
  .parse(JSON.parse(readFileSync(accessFile, "utf8")));
const api = new ApiClient(access);

let changed = Promise.withResolvers<void>();
const onChange = (): void => changed.resolve();
const claims = followList({
  access,
  path: "/api/v1/persistentvolumeclaims",
  schema: claimSchema,
  onChange,
});
const volumes = followList({ access, path: "/api/v1/persistentvolumes", schema: volumeSchema, onChange });

for (;;) {
  await changed.promise;
  // A claim and its volume change several times in a row: one read afterwards is enough.
  await realSystem.sleep(100);
  changed = Promise.withResolvers<void>();
  const seen = { claims: claims.items, volumes: volumes.items };
  if (seen.claims === undefined || seen.volumes === undefined) continue;
  try {
    await provisionVolumes(directory, { claims: seen.claims, volumes: seen.volumes }, api);
  } catch (error) {
    process.stderr.write(`${String(error)}\n`);
    await realSystem.sleep(500);
    onChange();
  }
}
