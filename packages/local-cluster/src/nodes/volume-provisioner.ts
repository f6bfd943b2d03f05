import { readFileSync } from "node:fs";
import { request } from "node:https";

import { z } from "zod";

import { ApiClient } from "../api/api-client.ts";
import { realSystem } from "../system/system.ts";
import { provisionVolumes } from "./provision-volumes.ts";

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

for (;;) {
  try {
    const { claims, volumes } = await provisionVolumes(directory, api);
    const change = new AbortController();
    await Promise.race([
      untilChanged(
        `/api/v1/persistentvolumeclaims?watch=true&resourceVersion=${claims}&timeoutSeconds=60`,
        change.signal,
      ),
      untilChanged(
        `/api/v1/persistentvolumes?watch=true&resourceVersion=${volumes}&timeoutSeconds=60`,
        change.signal,
      ),
    ]);
    change.abort();
    // A claim and its volume change several times in a row: one read afterwards is enough.
    await realSystem.sleep(100);
  } catch (error) {
    // The API server is away or being restarted: its log is ours, and we try again for as long as the cluster lives.
    process.stderr.write(`${String(error)}\n`);
    await realSystem.sleep(500);
  }
}

/** Resolves at the first sign of a change, and at the end of the watch: then the next pass looks for itself. */
async function untilChanged(path: string, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const headers = { authorization: `Bearer ${access.token}` };
  const watch = request(new URL(path, access.server), { ca: access.caPem, headers, signal }, (response) => {
    response
      .once("data", () => resolve())
      .once("end", () => resolve())
      .once("error", reject);
  });
  watch.once("error", (error) => (signal.aborted ? resolve() : reject(error)));
  watch.end();
  await promise;
}
