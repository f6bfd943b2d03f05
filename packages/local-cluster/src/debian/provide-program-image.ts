import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import { basename, join } from "node:path";

import { thisPlatform } from "../assets/platform.ts";
import type { ProgressReport } from "../assets/progress.ts";
import { librariesOf, merged } from "../engines/system-files.ts";
import { cachedImage } from "../images/cached-image.ts";
import { directoryEntries, type TarEntry } from "../images/tar.ts";
import { realSystem, type System } from "../system/system.ts";
import { unpackPackage } from "./provide-program.ts";

/** An image of one program of a Debian package. */
export interface ProgramImageRequest {
  /** The image's name, as manifests say it. */
  readonly name: string;
  /** Debian's package. */
  readonly packageName: string;
  /** Path of the program in the package, without a leading slash. In the image it lies in `/bin`, and is the entry point. */
  readonly program: string;
  /** Directories of the package that the program reads, without a leading slash; they keep their places (default: none). */
  readonly directories?: readonly string[] | undefined;
  /** Numeric, e.g. `65534`. */
  readonly user: string;
  readonly report?: ProgressReport | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** An image on this machine. */
export interface ProgramImage {
  readonly name: string;
  /** Directory of its OCI layout, for `images` of a cluster. */
  readonly directory: string;
}

/**
 * Makes an image that runs a program of Debian's, under any name: for programs whose official image cannot be had on this machine. It
 * holds the program and the libraries that it needs, and is kept in the user's cache.
 *
 * @example
 * const image = await provideProgramImage({
 *   name: "docker.io/prom/prometheus:v3.5.0", packageName: "prometheus", program: "usr/bin/prometheus", user: "65534",
 * });
 * await using cluster = await startLocalCluster({ nodes: 1, images: [image.directory] });
 */
export async function provideProgramImage(
  request: ProgramImageRequest,
  system: System = realSystem,
): Promise<ProgramImage> {
  const { name, packageName, program, directories = [], user, report, signal } = request;
  const directory = await cachedImage({
    cacheName: "programs",
    directoryName: directoryName(request),
    title: "an image",
    step: { component: "image with Debian's", version: packageName, expectedSeconds: 15 },
    assemble: async ({ workplace }) => {
      const { root, version } = await unpackPackage({ packageName, workplace, system });
      return {
        name,
        entries: [
          ...programEntries(join(root, program), directories),
          ...directories.flatMap((prefix) => directoryEntries(join(root, prefix), { prefix })),
        ],
        entrypoint: [`/bin/${basename(program)}`],
        env: { PATH: "/bin" },
        user,
        labels: { "quartermaster.local/debian-package": `${packageName} ${version}` },
      };
    },
    report,
    signal,
    system,
  });
  return { name, directory };
}

/** Raised when the way in which images are put together changes. */
const FORMAT = 1;

function directoryName({ name, packageName, program, directories = [], user }: ProgramImageRequest): string {
  const text = JSON.stringify([FORMAT, name, packageName, program, directories, user]);
  const { os, arch } = thisPlatform();
  return `${packageName}-${createHash("sha256").update(text).digest("hex").slice(0, 12)}-${os}-${arch}`;
}

function programEntries(program: string, kept: readonly string[]): readonly TarEntry[] {
  const libraries = librariesOf([program]).map((path) => ({ path: merged(path), from: path }));
  const files = [{ path: `usr/bin/${basename(program)}`, from: program }, ...libraries];
  const always = ["dev", "etc", "proc", "sys", "usr/bin", "usr/lib", "usr/lib64"];
  const directories = new Set([...always, ...kept].flatMap(parents));
  for (const { path } of libraries)
    for (const directory of parents(path).slice(0, -1)) directories.add(directory);
  return [
    ...[...directories].map((path): TarEntry => ({ kind: "directory", path, mode: 0o755 })),
    { kind: "directory", path: "tmp", mode: 0o1777 },
    ...["bin", "lib", "lib64"].map((path): TarEntry => ({ kind: "link", path, target: `usr/${path}` })),
    { kind: "file", path: "etc/nsswitch.conf", mode: 0o644, content: Buffer.from("hosts: files dns\n") },
    ...files.map(({ path, from }): TarEntry => ({
      kind: "file",
      path,
      mode: 0o755,
      content: { file: from, sizeBytes: statSync(from).size },
    })),
  ];
}

/** `a/b/c`: `a`, `a/b`, `a/b/c`. */
function parents(path: string): readonly string[] {
  const parts = path.split("/");
  return parts.map((_part, at) => parts.slice(0, at + 1).join("/"));
}
