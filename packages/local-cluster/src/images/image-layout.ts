import { createHash } from "node:crypto";
import { createWriteStream, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";

import { thisPlatform } from "../assets/platform.ts";
import { type TarEntry, writeTar } from "./tar.ts";

export interface ImageRequest {
  /** Full name with registry and tag, as manifests will say it. */
  readonly name: string;
  /** Content of the image; one layer. */
  readonly entries: readonly TarEntry[];
  readonly entrypoint: readonly string[];
  readonly command?: readonly string[] | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Numeric, so that `runAsNonRoot` can be checked: `1000` or `1000:1000`. */
  readonly user?: string | undefined;
  readonly workingDirectory?: string | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** Processor in Go's words (default: this machine's). */
  readonly architecture?: "amd64" | "arm64" | undefined;
  /** `none` is quicker to make and to import, `gzip` is for images that travel. */
  readonly compression?: "gzip" | "none" | undefined;
  /** Directory to write the layout into. */
  readonly target: string;
}

/** Where an image was written. */
export interface ImageLayout {
  readonly name: string;
  readonly directory: string;
  /** Digest of its manifest: the same for the same request. */
  readonly digest: string;
}

/** Writes an image as an OCI image layout, without a container engine. The same request gives the same bytes. */
export async function writeImageLayout(request: ImageRequest): Promise<ImageLayout> {
  const { name, target } = request;
  mkdirSync(join(target, "blobs", "sha256"), { recursive: true });
  const layer = await writeLayer(request);
  const config = writeJsonBlob(target, MEDIA_TYPES.config, imageConfig(request, layer.diffId));
  const manifest = writeJsonBlob(target, MEDIA_TYPES.manifest, {
    schemaVersion: 2,
    mediaType: MEDIA_TYPES.manifest,
    config,
    layers: [layer.descriptor],
  });
  const annotations = { "io.containerd.image.name": name, "org.opencontainers.image.ref.name": name };
  const index = { schemaVersion: 2, mediaType: MEDIA_TYPES.index, manifests: [{ ...manifest, annotations }] };
  writeFileSync(join(target, "index.json"), JSON.stringify(index));
  writeFileSync(join(target, "oci-layout"), JSON.stringify({ imageLayoutVersion: "1.0.0" }));
  return { name, directory: target, digest: manifest.digest };
}

const MEDIA_TYPES = {
  index: "application/vnd.oci.image.index.v1+json",
  manifest: "application/vnd.oci.image.manifest.v1+json",
  config: "application/vnd.oci.image.config.v1+json",
  layer: {
    none: "application/vnd.oci.image.layer.v1.tar",
    gzip: "application/vnd.oci.image.layer.v1.tar+gzip",
  },
} as const;

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

function imageConfig(request: ImageRequest, diffId: string): Readonly<Record<string, unknown>> {
  const {
    entrypoint,
    command,
    env,
    user,
    workingDirectory,
    labels,
    architecture = thisPlatform().arch,
  } = request;
  return {
    created: "1970-01-01T00:00:00Z",
    architecture,
    os: "linux",
    config: {
      Entrypoint: entrypoint,
      ...(command === undefined ? {} : { Cmd: command }),
      ...(env === undefined
        ? {}
        : {
            Env: Object.entries(env)
              .map(([key, value]) => `${key}=${value}`)
              .toSorted(),
          }),
      ...(user === undefined ? {} : { User: user }),
      ...(workingDirectory === undefined ? {} : { WorkingDir: workingDirectory }),
      ...(labels === undefined ? {} : { Labels: sortedByKey(labels) }),
    },
    rootfs: { type: "layers", diff_ids: [diffId] },
  };
}

function sortedByKey(values: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.keys(values)
      .toSorted()
      .map((key) => [key, values[key] ?? ""]),
  );
}

/** The layer is known by two digests: of what is stored, and of the archive inside, whatever its compression. */
async function writeLayer({
  entries,
  target,
  compression = "gzip",
}: ImageRequest): Promise<{ readonly descriptor: Descriptor; readonly diffId: string }> {
  const draft = join(target, "blobs", "layer.new");
  const archive = measuring();
  const stored = measuring();
  await pipeline(
    writeTar(entries),
    archive.stream,
    compression === "gzip" ? createGzip() : new PassThrough(),
    stored.stream,
    createWriteStream(draft),
  );
  const digest = stored.digest();
  renameSync(draft, blobPath(target, digest));
  return {
    descriptor: { mediaType: MEDIA_TYPES.layer[compression], digest, size: stored.sizeBytes() },
    diffId: archive.digest(),
  };
}

interface Measuring {
  readonly stream: PassThrough;
  digest(): string;
  sizeBytes(): number;
}

function measuring(): Measuring {
  const stream = new PassThrough();
  const hash = createHash("sha256");
  let size = 0;
  stream.on("data", (chunk: Buffer) => {
    hash.update(chunk);
    size += chunk.length;
  });
  stream.pause(); // flows once it has a reader, not before
  return { stream, digest: () => `sha256:${hash.digest("hex")}`, sizeBytes: () => size };
}

function writeJsonBlob(target: string, mediaType: string, value: unknown): Descriptor {
  const bytes = Buffer.from(JSON.stringify(value));
  const digest = `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
  writeFileSync(blobPath(target, digest), bytes);
  return { mediaType, digest, size: bytes.length };
}

function blobPath(target: string, digest: string): string {
  return join(target, "blobs", ...digest.split(":"));
}
