import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { directoryEntries, type ImageLayout, writeImageLayout } from "@quartermaster/local-cluster";

import { entrypointOf, type ProgramRequest, writeProgramFiles } from "./program-files.ts";

/** One of our images. */
export interface ProgramImage {
  /** What the manifests in deploy/ request. */
  readonly name: string;
  readonly user: string;
  readonly program: string;
  readonly entryPoint: string;
  /** Names of programs of this machine that it calls. */
  readonly tools?: readonly string[];
}

/** The operator's image; its user is no other client's number. */
export const operatorImage: ProgramImage = {
  name: "quartermaster.local/operator:0.0.0",
  user: "65532:65532",
  program: "app/operator.mjs",
  entryPoint: "apps/operator/src/main.ts",
};

/** The share driver's image. Mounting needs root, and two programs of util-linux: docs/decisions/0031-our-own-share-driver.md. */
export const shareDriverImage: ProgramImage = {
  name: "quartermaster.local/share-driver:0.0.0",
  user: "0:0",
  program: "app/share-driver.mjs",
  entryPoint: "apps/share-driver/src/main.ts",
  tools: ["mount", "umount"],
};

/** The image of the exporter beside a search cluster; the operator requests it by this name unless the spec names another. */
export const searchExporterImage: ProgramImage = {
  name: "quartermaster.local/search-exporter:0.0.0",
  user: "65532:65532",
  program: "app/search-exporter.mjs",
  entryPoint: "apps/search-exporter/src/main.ts",
};

/** All images by the name that `make image` knows them by. */
export const images: Readonly<Record<string, ProgramImage>> = {
  operator: operatorImage,
  "search-exporter": searchExporterImage,
  "share-driver": shareDriverImage,
};

export interface ImageTarget {
  /** Directory for the layout. */
  readonly target: string;
  /** `none` is quicker to make and to import, `gzip` (the default) is for images that travel. */
  readonly compression?: "gzip" | "none";
}

/** Writes an image as an OCI image layout. The same sources on the same machine give the same digest. */
export async function writeImage(
  image: ProgramImage,
  { target, compression = "gzip" }: ImageTarget,
): Promise<ImageLayout> {
  const root = mkdtempSync(join(tmpdir(), "qm-image-"));
  try {
    await writeImageFiles(image, root);
    return await writeImageLayout({
      name: image.name,
      entries: directoryEntries(root),
      entrypoint: entrypointOf(image.program),
      env: { NODE_ENV: "production", ...(image.tools === undefined ? {} : { PATH: "/usr/bin" }) },
      user: image.user,
      workingDirectory: "/app",
      compression,
      target,
    });
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

/** Writes the files of an image below `root`. */
export async function writeImageFiles(image: ProgramImage, root: string): Promise<void> {
  const { entryPoint, program, tools = [] } = image;
  const request: ProgramRequest = { entryPoint, program, tools: tools.map(findTool) };
  await writeProgramFiles(root, request);
}

function findTool(name: string): string {
  return execFileSync("which", [name], { encoding: "utf8" }).trim();
}
