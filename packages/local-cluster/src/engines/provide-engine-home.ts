import { existsSync, realpathSync } from "node:fs";
import { mkdir, readdir, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

import { lockCacheDirectory } from "../assets/cache.ts";
import { runCommand } from "../assets/run-command.ts";
import { LocalClusterError } from "../errors.ts";
import { codeOf, realSystem, type System, userCache } from "../system/system.ts";
import { type EngineRecipe, engineRecipe, type EngineVersion } from "./engine-recipe.ts";
import { fetchArtifact } from "./maven.ts";

/** Dependencies of providing. */
export interface ProvideEngineHomeOptions {
  readonly system?: System | undefined;
  /** Called with each step that takes long, as one line. */
  readonly report?: ((line: string) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * The home of an engine: the directory with its `bin`, `lib` and `config`, unchanged since its project's own installer finished. It is
 * fetched through Maven once and kept in the user's cache; no one may write into it.
 *
 * @example
 * const home = await provideEngineHome({ engine: "opensearch", version: "2.19.4" }, { report: console.error });
 */
export async function provideEngineHome(
  request: EngineVersion,
  { system = realSystem, report = () => undefined, signal }: ProvideEngineHomeOptions = {},
): Promise<string> {
  const recipe = engineRecipe(request);
  const directory = userCache(system, "engine-homes");
  const home = join(directory, `${recipe.engine}-${recipe.version}-${homeFormat}`);
  if (await isDirectory(home)) return home;
  await mkdir(directory, { recursive: true });
  await using stack = new AsyncDisposableStack();
  const lock = await lockCacheDirectory({
    directory,
    system,
    signal,
    onWait: (pid) => {
      report(`waiting for process ${pid}, which provides an engine`);
    },
  });
  stack.use(lock);
  if (await isDirectory(home)) return home;
  const assembly: Assembly = { recipe, directory, home, system, report, signal };
  await assemble(assembly);
  return home;
}

/** Raised when the way in which homes are put together changes. */
const homeFormat = 1;

interface Assembly {
  readonly recipe: EngineRecipe;
  readonly directory: string;
  readonly home: string;
  readonly system: System;
  readonly report: (line: string) => void;
  readonly signal: AbortSignal | undefined;
}

/** In a directory of its own that is renamed last: a cut at any point leaves the engine absent. */
async function assemble(assembly: Assembly): Promise<void> {
  const { recipe, directory, home, system, report, signal } = assembly;
  const startedMs = system.nowMs();
  const parts: string[] = [];
  for (const coordinates of [recipe.distribution, ...recipe.plugins]) {
    report(`fetching ${coordinates} through Maven`);
    parts.push(await fetchArtifact(coordinates, { workplace: directory, system, signal }));
  }
  const workplace = join(directory, `work-${system.randomHex(6)}`);
  await mkdir(workplace, { recursive: true });
  try {
    const [engine = "", ...plugins] = parts;
    await runTool("unzip", ["-q", engine, "-d", workplace], assembly);
    const [unpacked = ""] = await readdir(workplace);
    const javaEnv = { ...system.env, OPENSEARCH_JAVA_HOME: javaHome(system) };
    for (const plugin of plugins) {
      report(`installing ${basename(plugin)}`);
      const installer = join(workplace, unpacked, "bin", "opensearch-plugin");
      await runTool(installer, ["install", "--batch", `file://${plugin}`], { ...assembly, env: javaEnv });
    }
    await rename(join(workplace, unpacked), home);
  } finally {
    await rm(workplace, { recursive: true, force: true });
  }
  report(
    `${recipe.engine} ${recipe.version} is ready after ${Math.round((system.nowMs() - startedMs) / 1000)} s`,
  );
}

async function runTool(
  command: string,
  args: readonly string[],
  { directory, system, signal, env = system.env }: Assembly & { readonly env?: System["env"] },
): Promise<void> {
  const { code, stdout, stderr } = await runCommand({
    command,
    args,
    cwd: directory,
    env,
    signal,
  });
  if (code === 0) return;
  const output = `${stdout}${stderr}`.trim().split("\n").slice(-5).join(" ");
  if (code === 127)
    throw new LocalClusterError(
      "PrerequisiteMissing",
      `The program ${command} is missing.`,
      "Install it: engines come from Maven Central (packages maven, unzip and a Java 17 runtime).",
    );
  throw new LocalClusterError(
    "ToolFailed",
    `${command} ended with code ${code}: ${output}`,
    "Check that Maven Central can be reached, then try again.",
  );
}

/** The installer looks for a Java that the zip does not bring along. */
function javaHome({ env }: System): string {
  const named = env["JAVA_HOME"] ?? "";
  if (named !== "") return named;
  const directories = (env["PATH"] ?? "").split(":").map((directory) => join(directory, "java"));
  const found = directories.find((path) => existsSync(path));
  return found === undefined ? "" : dirname(dirname(realpathSync(found)));
}

async function isDirectory(path: string): Promise<boolean> {
  try {
    const found = await stat(path);
    return found.isDirectory();
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false;
    throw error;
  }
}
