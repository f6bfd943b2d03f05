import { createHash } from "node:crypto";
import { existsSync, statSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { basename, join } from "node:path";

import { clearAbandoned, lockCacheFolder, openWorkplace } from "../assets/cache.ts";
import { thisPlatform } from "../assets/platform.ts";
import { beginStep, type ProgressReport } from "../assets/progress.ts";
import { librariesOf, merged } from "../engines/system-files.ts";
import { writeImageLayout } from "../images/image-layout.ts";
import { folderEntries, type TarEntry } from "../images/tar.ts";
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
  /** Folders of the package that the program reads, without a leading slash; they keep their places (default: none). */
  readonly folders?: readonly string[];
  /** Numeric, e.g. `65534`. */
  readonly user: string;
  readonly report?: ProgressReport;
  readonly signal?: AbortSignal;
}

/** An image on this machine. */
export interface ProgramImage {
  readonly name: string;
  /** Folder of its OCI layout, for `images` of a cluster. */
  readonly folder: string;
}

/**
 * Makes an image that runs a program of Debian's, under any name: for programs whose official image cannot be had on this machine. It
 * holds the program and the libraries that it needs, and is kept in the user's cache.
 *
 * @example
 * const image = await provideProgramImage({
 *   name: "docker.io/prom/prometheus:v3.5.0", packageName: "prometheus", program: "usr/bin/prometheus", user: "65534",
 * });
 * await using cluster = await startLocalCluster({ nodes: 1, images: [image.folder] });
 */
export async function provideProgramImage(
  request: ProgramImageRequest,
  system: System = realSystem,
): Promise<ProgramImage> {
  const { name, report = () => undefined, signal } = request;
  const cache = imagesFolder(system);
  const folder = join(cache, folderName(request));
  const image = { name, folder };
  if (existsSync(folder)) return image;
  await mkdir(cache, { recursive: true });
  const onWait = (pid: string): void =>
    report({ kind: "note", text: `waiting for process ${pid}, which is making an image` });
  await using held = new AsyncDisposableStack();
  held.use(
    await lockCacheFolder({ folder: cache, system, onWait, ...(signal === undefined ? {} : { signal }) }),
  );
  await clearAbandoned(cache);
  if (existsSync(folder)) return image;
  const step = {
    component: "image with Debian's",
    version: request.packageName,
    action: "building",
    position: 1,
    total: 1,
    expectedSeconds: 15,
  } as const;
  const running = beginStep(step, report, system);
  try {
    await makeImage(request, { cache, folder, system });
  } catch (error) {
    await running.fail("failed");
    throw error;
  }
  await running.finish();
  return image;
}

/** Raised when the way in which images are put together changes. */
const FORMAT = 1;

function folderName({ name, packageName, program, folders = [], user }: ProgramImageRequest): string {
  const text = JSON.stringify([FORMAT, name, packageName, program, folders, user]);
  const { os, arch } = thisPlatform();
  return `${packageName}-${createHash("sha256").update(text).digest("hex").slice(0, 12)}-${os}-${arch}`;
}

/** Beside the images of engines: the cache of this user, outside of every repository. */
function imagesFolder(system: System): string {
  const named = system.env["XDG_CACHE_HOME"] ?? "";
  return join(named === "" ? join(system.homeDirectory, ".cache") : named, "quartermaster", "programs");
}

/** The finished layout appears by a rename: what is in the cache is whole. */
async function makeImage(
  { name, packageName, program, folders = [], user }: ProgramImageRequest,
  { cache, folder, system }: { readonly cache: string; readonly folder: string; readonly system: System },
): Promise<void> {
  const workplace = await openWorkplace(cache, system);
  try {
    const { root, version } = await unpackPackage({ packageName, workplace, system });
    const target = join(workplace, "layout");
    await writeImageLayout({
      name,
      entries: [
        ...programEntries(join(root, program), folders),
        ...folders.flatMap((prefix) => folderEntries(join(root, prefix), { prefix })),
      ],
      entrypoint: [`/bin/${basename(program)}`],
      env: { PATH: "/bin" },
      user,
      labels: { "quartermaster.local/debian-package": `${packageName} ${version}` },
      compression: "none",
      target,
    });
    await rename(target, folder);
  } finally {
    await rm(workplace, { recursive: true, force: true, maxRetries: 3 });
  }
}

function programEntries(program: string, kept: readonly string[]): readonly TarEntry[] {
  const libraries = librariesOf([program]).map((path) => ({ path: merged(path), from: path }));
  const files = [{ path: `usr/bin/${basename(program)}`, from: program }, ...libraries];
  const always = ["dev", "etc", "proc", "sys", "usr/bin", "usr/lib", "usr/lib64"];
  const folders = new Set([...always, ...kept].flatMap(parents));
  for (const { path } of libraries) for (const folder of parents(path).slice(0, -1)) folders.add(folder);
  return [
    ...[...folders].map((path): TarEntry => ({ kind: "folder", path, mode: 0o755 })),
    { kind: "folder", path: "tmp", mode: 0o1777 },
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
