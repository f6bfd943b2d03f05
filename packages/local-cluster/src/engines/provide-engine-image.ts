import { chmodSync, cpSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { rename } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

import { thisPlatform } from "../assets/platform.ts";
import type { ProgressReport } from "../assets/progress.ts";
import { cachedImage, type ImageWork } from "../images/cached-image.ts";
import { directoryEntries, type TarEntry } from "../images/tar.ts";
import { runTool } from "../nodes/run-tool.ts";
import { realSystem, type System } from "../system/system.ts";
import {
  type EngineRecipe,
  engineRecipe,
  type EngineVersion,
  OPEN_FILES_LIBRARY,
  OPEN_FILES_SOURCE,
  recipeHash,
} from "./engine-recipe.ts";
import { type EngineTools, findEngineTools, provideJavaRuntime } from "./engine-tools.ts";
import { fetchArtifact } from "./maven.ts";
import { writeSystemFiles } from "./system-files.ts";

/** An image of an engine on this machine. */
export interface EngineImage {
  /** The official image's name. */
  readonly name: string;
  /** Directory of its OCI layout, for `images` of a cluster or `importImage` of a node. */
  readonly directory: string;
}

/** Which image, and who hears of the progress. */
export interface EngineImageRequest extends EngineVersion {
  readonly report?: ProgressReport | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Makes an image of a search engine from its parts on Maven Central, with the layout, the entry point and the name of the official one.
 * It is kept in the user's cache; the first call takes a minute or two, later ones nothing. Needs root only to install missing tools.
 *
 * @example
 * const image = await provideEngineImage({ engine: "opensearch", version: "2.19.4" });
 * await using cluster = await startLocalCluster({ nodes: 1, images: [image.directory] });
 */
export async function provideEngineImage(
  request: EngineImageRequest,
  system: System = realSystem,
): Promise<EngineImage> {
  const { report, signal } = request;
  const recipe = engineRecipe(request);
  const directory = await cachedImage({
    cacheName: "engines",
    directoryName: imageDirectory(recipe),
    title: "an image of an engine",
    step: { component: `image of ${recipe.engine}`, version: recipe.version, expectedSeconds: 90 },
    assemble: async (work) => {
      const tools = await findEngineTools(work.report, work.system);
      const root = join(work.workplace, "root");
      await writeEngineFiles(recipe, { ...work, root, tools });
      return {
        name: recipe.imageName,
        entries: imageEntries(recipe, root),
        entrypoint: recipe.entrypoint,
        command: recipe.command,
        env: recipe.env,
        user: recipe.user,
        workingDirectory: recipe.home,
      };
    },
    report,
    signal,
    system,
  });
  return { name: recipe.imageName, directory };
}

/** Name of the directory that the cache keeps an image in. */
export function imageDirectory(recipe: EngineRecipe): string {
  const { os, arch } = thisPlatform();
  return `${recipe.engine}-${recipe.version}-${recipeHash(recipe)}-${os}-${arch}`;
}

/** The engine's own files belong to its user, as in the official images; the system's to root. */
function imageEntries({ home }: EngineRecipe, root: string): readonly TarEntry[] {
  const prefix = home.slice(1);
  const system = directoryEntries(root).filter(
    ({ path }) => path !== prefix && !path.startsWith(`${prefix}/`),
  );
  return [
    ...system,
    { kind: "directory", path: prefix, mode: 0o775, uid: ENGINE_USER, gid: 0 },
    ...directoryEntries(join(root, prefix), { uid: ENGINE_USER, gid: 0, prefix }),
  ];
}

const ENGINE_USER = 1000;

interface Assembly extends ImageWork {
  readonly root: string;
  readonly tools: EngineTools;
}

async function writeEngineFiles(recipe: EngineRecipe, assembly: Assembly): Promise<void> {
  const { root, workplace, tools, system, cache } = assembly;
  const home = join(root, recipe.home);
  const java = await provideJavaRuntime({ jdk: tools.jdk, directory: cache, system });
  await unpackEngine(recipe, home, assembly);
  cpSync(java, join(home, "jdk"), { recursive: true, verbatimSymlinks: true });
  for (const coordinates of recipe.plugins) {
    const zip = await fetchArtifact(coordinates, assembly);
    const env = `${recipe.engine === "opensearch" ? "OPENSEARCH" : "ES"}_JAVA_HOME=${join(home, "jdk")}`;
    const install = [join(home, "bin", `${recipe.engine}-plugin`), "install", "--batch", `file://${zip}`];
    await runTool({ command: "env", args: [env, ...install], timeoutMs: 300_000 }, system);
  }
  for (const directory of ["config", "data", "logs", "plugins"])
    mkdirSync(join(home, directory), { recursive: true, mode: 0o775 });
  writeSystemFiles({
    root,
    busybox: tools.busybox,
    programs: ["jdk", recipe.nativeDirectory ?? "jdk"].map((directory) => join(home, directory)),
    user: recipe.engine,
  });
  await compileOpenFiles(root, workplace, system);
  for (const [path, text] of Object.entries(recipe.scripts)) writeScript(join(root, path), text);
  openDirectories(root);
}

async function unpackEngine(recipe: EngineRecipe, home: string, assembly: Assembly): Promise<void> {
  const zip = await fetchArtifact(recipe.distribution, assembly);
  const unpacked = join(assembly.workplace, "unpacked");
  await runTool({ command: "unzip", args: ["-q", zip, "-d", unpacked] }, assembly.system);
  const [only = ""] = readdirSync(unpacked);
  mkdirSync(dirname(home), { recursive: true });
  await rename(join(unpacked, only), home);
}

async function compileOpenFiles(root: string, workplace: string, system: System): Promise<void> {
  const source = join(workplace, `${basename(OPEN_FILES_LIBRARY, ".so")}.c`);
  const library = join(root, OPEN_FILES_LIBRARY);
  writeFileSync(source, OPEN_FILES_SOURCE);
  mkdirSync(dirname(library), { recursive: true });
  await runTool({ command: "cc", args: ["-shared", "-fPIC", "-O2", "-o", library, source] }, system);
}

function writeScript(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  chmodSync(path, 0o755);
}

/** The maker's umask may have closed them, and the image's user is not the maker. */
function openDirectories(root: string): void {
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    if (entry.isDirectory() && entry.name !== "tmp") chmodSync(join(entry.parentPath, entry.name), 0o755);
  }
}
