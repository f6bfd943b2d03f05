import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";

import { isFileError } from "../system/file-error.ts";
import type { System } from "../system/system.ts";
import type { ReleaseSites } from "./release-sites.ts";
import type { Release } from "./release.ts";
import { findChecksum } from "./release.ts";
import { runCommand } from "./run-command.ts";

/** What to fetch, and where to. */
export interface DownloadRequest {
  readonly release: Release;
  readonly sites: ReleaseSites;
  /** Folder for the archive and the result. */
  readonly workplace: string;
  readonly system: System;
  readonly signal: AbortSignal;
  readonly onBegin: () => void;
  readonly onBytes: (received: number) => void;
}

/** A verified program, or the reason why there is none. Never throws for what a network may do. */
export type Download =
  | { readonly kind: "fetched"; readonly path: string }
  | { readonly kind: "unavailable"; readonly reason: string };

/** Fetches a release file, checks its sum against the published one and unpacks it. One try. */
export async function download(request: DownloadRequest): Promise<Download> {
  const { release, sites, signal } = request;
  const fault = await sites.faultOf(release.checksumUrl, signal);
  if (fault !== undefined) return { kind: "unavailable", reason: fault };
  try {
    return await fetchVerified(request);
  } catch (error) {
    signal.throwIfAborted();
    if (isFileError(error)) throw error;
    const reason = `${new URL(release.fileUrl).host} broke off`;
    sites.giveUp(release.checksumUrl, reason);
    return { kind: "unavailable", reason };
  }
}

const ANSWER_TIMEOUT_MS = 10_000;
const STALL_TIMEOUT_MS = 30_000;

async function fetchVerified(request: DownloadRequest): Promise<Download> {
  const { release, workplace } = request;
  const fileName = release.fileUrl.slice(release.fileUrl.lastIndexOf("/") + 1);
  const wanted = await fetchChecksum(request, fileName);
  if (wanted === undefined) return { kind: "unavailable", reason: `no published checksum for ${fileName}` };
  request.onBegin();
  const path = join(workplace, `download-${fileName}`);
  const actual = await fetchFile(request, path);
  if (actual === undefined) return { kind: "unavailable", reason: `${fileName} is not published` };
  if (actual !== wanted)
    return { kind: "unavailable", reason: `the checksum of ${fileName} is wrong, it was refused` };
  return release.archiveMember === undefined
    ? { kind: "fetched", path }
    : await unpack(request, path, release.archiveMember);
}

async function fetchChecksum(
  { release, signal }: DownloadRequest,
  fileName: string,
): Promise<string | undefined> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_TIMEOUT_MS)]);
  const response = await fetch(release.checksumUrl, { signal: limit });
  const text = await response.text();
  return response.ok ? findChecksum(text, fileName) : undefined;
}

/** Streams the file to `path`; its SHA-256, or undefined when the site has no such file. */
async function fetchFile(request: DownloadRequest, path: string): Promise<string | undefined> {
  const watch = new AbortController();
  const limit = AbortSignal.any([request.signal, watch.signal]);
  const progress = { bytes: 0 };
  const guard = abortWhenStalled(progress, watch, request.system);
  try {
    const response = await fetch(request.release.fileUrl, { signal: limit });
    if (!response.ok || response.body === null) return undefined;
    const hash = createHash("sha256");
    const count = async function* (chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
      for await (const chunk of chunks) {
        hash.update(chunk);
        progress.bytes += chunk.byteLength;
        request.onBytes(progress.bytes);
        yield chunk;
      }
    };
    await pipeline(response.body, count, createWriteStream(path), { signal: limit });
    return hash.digest("hex");
  } finally {
    watch.abort();
    await guard;
  }
}

/** Aborts once half a minute has passed without a byte. */
async function abortWhenStalled(
  progress: { readonly bytes: number },
  watch: AbortController,
  system: System,
): Promise<void> {
  let seen = -1;
  while (progress.bytes !== seen) {
    seen = progress.bytes;
    const isTime = await system.sleep(STALL_TIMEOUT_MS, watch.signal).then(
      () => true,
      () => false, // woken by the end of the download
    );
    if (!isTime) return;
  }
  watch.abort();
}

async function unpack(
  { workplace, system, signal }: DownloadRequest,
  archive: string,
  member: string,
): Promise<Download> {
  const path = join(workplace, "unpacked");
  await using output = await open(path, "w");
  const args = ["-xzOf", archive, member];
  const { code } = await runCommand({
    command: "tar",
    args,
    cwd: workplace,
    env: system.env,
    stdoutFd: output.fd,
    signal,
  });
  return code === 0
    ? { kind: "fetched", path }
    : { kind: "unavailable", reason: `the release archive holds no ${member}` };
}
