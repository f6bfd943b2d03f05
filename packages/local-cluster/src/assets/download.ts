import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";

import { isFileError, type System } from "../system/system.ts";
import type { Component, ProjectName } from "./component.ts";
import type { Platform } from "./platform.ts";
import { runCommand } from "./run-command.ts";

export interface DownloadRequest {
  readonly release: Release;
  readonly sites: ReleaseSites;
  /** Directory for the archive and the result. */
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
  const problem = await sites.problemOf(release.checksumUrl, signal);
  if (problem !== undefined) return { kind: "unavailable", reason: problem };
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

/** Where the project itself publishes a component. */
export interface Release {
  readonly fileUrl: string;
  /** A text with the SHA-256 of the file: the sum alone, or lines of sum and file name. */
  readonly checksumUrl: string;
  /** Path of the program inside the archive; a file without one is the program itself. */
  readonly archiveMember?: string | undefined;
}

/** The official release of a component, or its place on the mirror that `QM_RELEASE_MIRROR` names (same layout below `/<project>`). */
export function releaseOf(
  component: Component,
  version: string,
  { platform, system }: { readonly platform: Platform; readonly system: System },
): Release {
  const mirror = system.env["QM_RELEASE_MIRROR"];
  const base = mirror
    ? `${mirror.replace(/\/+$/, "")}/${component.project}`
    : RELEASE_SITES[component.project];
  const location = PLACES[component.project](component, version, platform);
  return {
    fileUrl: `${base}/${version}/${location.file}`,
    checksumUrl: `${base}/${version}/${location.checksums}`,
    archiveMember: location.member,
  };
}

/** Finds the SHA-256 of `fileName` in a checksum text; undefined when it is not there. */
export function findChecksum(text: string, fileName: string): string | undefined {
  const lines = text
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/\s+\*?/));
  const line =
    lines.find(([, name]) => name === fileName) ??
    (lines.length === 1 && lines[0]?.length === 1 ? lines[0] : undefined);
  const sum = line?.[0]?.toLowerCase();
  return sum !== undefined && /^[0-9a-f]{64}$/.test(sum) ? sum : undefined;
}

interface Location {
  readonly file: string;
  readonly checksums: string;
  readonly member?: string | undefined;
}

const RELEASE_SITES: Readonly<Record<ProjectName, string>> = {
  kubernetes: "https://dl.k8s.io/release",
  etcd: "https://github.com/etcd-io/etcd/releases/download",
  kwok: "https://github.com/kubernetes-sigs/kwok/releases/download",
  coredns: "https://github.com/coredns/coredns/releases/download",
};

const PLACES: Readonly<
  Record<ProjectName, (component: Component, version: string, platform: Platform) => Location>
> = {
  kubernetes: ({ name }, _version, { os, arch }) => {
    const file = `bin/${os}/${arch}/${name}`;
    return { file, checksums: `${file}.sha256` };
  },
  etcd: ({ name }, version, { os, arch }) => {
    const stem = `etcd-${version}-${os}-${arch}`;
    return { file: `${stem}.tar.gz`, checksums: "SHA256SUMS", member: `${stem}/${name}` };
  },
  // kwok 0.8 publishes no checksums, so its download is refused and it is built; a mirror may offer them under this name.
  kwok: ({ name }, _version, { os, arch }) => {
    const file = `${name}-${os}-${arch}`;
    return { file, checksums: `${file}.sha256` };
  },
  coredns: ({ name }, version, { os, arch }) => {
    const file = `coredns_${version.slice(1)}_${os}_${arch}.tgz`;
    return { file, checksums: `${file}.sha256`, member: name };
  },
};

/** The release sites as one run sees them: each is tried once, and one that does not respond is left alone after that. */
export class ReleaseSites {
  readonly #knocks = new Map<string, Promise<string | undefined>>();
  readonly #offline: boolean;

  constructor(system: System) {
    this.#offline = !["", "0", "false"].includes(system.env["QM_ASSETS_OFFLINE"] ?? "");
  }

  /** Why nothing can be fetched from the site of this address; undefined when it responds. */
  async problemOf(url: string, signal: AbortSignal): Promise<string | undefined> {
    if (this.#offline) return "QM_ASSETS_OFFLINE is set";
    const { origin } = new URL(url);
    const knock = this.#knocks.get(origin) ?? knockAt(origin, signal);
    this.#knocks.set(origin, knock);
    return await knock;
  }

  /** Gives the site up for the rest of the run. */
  giveUp(url: string, reason: string): void {
    this.#knocks.set(new URL(url).origin, Promise.resolve(reason));
  }
}

const KNOCK_TIMEOUT_MS = 3000;

async function knockAt(origin: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(KNOCK_TIMEOUT_MS)]);
    const reply = await fetch(origin, { method: "HEAD", redirect: "manual", signal: limit });
    await reply.body?.cancel();
    return undefined;
  } catch {
    // Refused, unknown or silent: any of them means that there is no way there, and which one helps no one.
    signal.throwIfAborted();
    return `${new URL(origin).host} cannot be reached`;
  }
}
