import { writeFileSync } from "node:fs";
import { join } from "node:path";

import type { ApiAccess } from "../api/api-client.ts";
import { ApiClient } from "../api/api-client.ts";
import { launch } from "../process/launch.ts";
import type { System } from "../system/system.ts";
import { desiredStorageClass, STORAGE_CLASS } from "./volume-plan.ts";

/** Gives a cluster its default StorageClass and starts the process that makes the volumes. Needs no real nodes and no root. */
export async function startVolumeProvisioner(
  folder: string,
  access: ApiAccess,
  system: System,
): Promise<void> {
  using api = new ApiClient(access);
  await api.apply(`/apis/storage.k8s.io/v1/storageclasses/${STORAGE_CLASS}`, desiredStorageClass());
  const accessFile = join(folder, "pki", "volume-provisioner.json");
  writeFileSync(accessFile, JSON.stringify(access), { mode: 0o600 });
  const entry = join(import.meta.dirname, "volume-provisioner.ts");
  launch(
    {
      name: "volume-provisioner",
      folder,
      command: process.execPath,
      args: ["--max-old-space-size=64", entry, folder, accessFile],
    },
    system,
  );
}
