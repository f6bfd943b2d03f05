import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { folderEntries, type ImageLayout, writeImageLayout } from "@quartermaster/local-cluster";

import { operatorEntrypoint, operatorUser, writeOperatorFiles } from "./operator-files.ts";

/** What deploy/operator.yaml asks for. */
export const operatorImage = "quartermaster.local/operator:0.0.0";

/** What to write and where. */
export interface OperatorImageRequest {
  /** Folder for the layout. */
  readonly target: string;
  /** `none` is quicker to make and to import, `gzip` (the default) is for images that travel. */
  readonly compression?: "gzip" | "none";
}

/** Writes the operator's image as an OCI image layout. The same sources on the same machine give the same digest. */
export async function writeOperatorImage({
  target,
  compression = "gzip",
}: OperatorImageRequest): Promise<ImageLayout> {
  const root = mkdtempSync(join(tmpdir(), "qm-operator-image-"));
  try {
    await writeOperatorFiles(root);
    return await writeImageLayout({
      name: operatorImage,
      entries: folderEntries(root),
      entrypoint: operatorEntrypoint,
      env: { NODE_ENV: "production" },
      user: operatorUser,
      workingFolder: "/app",
      compression,
      target,
    });
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}
