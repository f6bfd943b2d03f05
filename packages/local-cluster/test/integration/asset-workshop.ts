import { execFileSync } from "node:child_process";
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";

import { describeProgress } from "../../src/assets/progress.ts";
import type { Binaries, BinariesRequest } from "../../src/assets/resolve.ts";
import { resolveBinaries } from "../../src/assets/resolve.ts";
import { LocalClusterError } from "../../src/errors.ts";
import { realSystem } from "../../src/system/system.ts";

/** An empty cache, Go modules that build in a few seconds, and an environment that knows nothing of the machine's own settings. */
export interface Workshop extends AsyncDisposable {
  readonly folder: string;
  readonly goFolder: string;
  readonly env: Readonly<Record<string, string>>;
  /** What was reported so far, as lines. */
  readonly lines: readonly string[];
  resolve(request: Partial<BinariesRequest>, env?: Readonly<Record<string, string>>): Promise<Binaries>;
  /** Everything in the cache folder of the project, sorted. */
  cacheContent(project: string): Promise<readonly string[]>;
  /** Puts an executable script into a folder of its own and returns a PATH that finds it first. */
  script(name: string, text: string): Promise<string>;
}

/** Opens a workshop below the system's temporary folder. */
export async function openWorkshop(): Promise<Workshop> {
  const folder = await mkdtemp(join(tmpdir(), "qm-assets-"));
  const goFolder = join(folder, "go");
  await writeModules(goFolder);
  const env = {
    ...goEnvironment(),
    HOME: folder,
    XDG_CACHE_HOME: join(folder, "cache"),
    QM_ASSETS_OFFLINE: "1",
  };
  const lines: string[] = [];
  return {
    folder,
    goFolder,
    env,
    lines,
    resolve: async (request, extra = {}) =>
      await resolveBinaries({
        components: ["etcd"],
        goFolder,
        system: { ...realSystem, env: { ...env, ...extra } },
        report: (event) => lines.push(describeProgress(event)),
        ...request,
      }),
    cacheContent: async (project) =>
      await listCache(join(folder, "cache", "quartermaster", "assets"), project),
    script: async (name, text) => {
      const path = join(folder, `bin-${name}`, name);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, text);
      await chmod(path, 0o755);
      return `${dirname(path)}${delimiter}${env.PATH}`;
    },
    [Symbol.asyncDispose]: async () => {
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Runs the program and returns what it says. */
export function say(path: string): string {
  return execFileSync(path, { encoding: "utf8" }).trim();
}

/** The `LocalClusterError` that a promise ends in; fails when it ends in anything else. */
export async function failureOf(promise: Promise<unknown>): Promise<LocalClusterError> {
  const outcome = await promise.then(
    () => "nothing was thrown",
    (error: unknown) => error,
  );
  if (outcome instanceof LocalClusterError) return outcome;
  throw new Error("expected a LocalClusterError", { cause: outcome });
}

const PROGRAM_GO_VERSION = "1.24";

/** The real versions' modules replaced by a folder beside them: no download, no go.sum, the same commands. */
async function writeModules(goFolder: string): Promise<void> {
  await writeModule(join(goFolder, "etcd"), "go.etcd.io/etcd/server/v3 v3.9.9", { ".": 'println("etcd")' });
  const commands = { "cmd/kube-apiserver": 'println("kube-apiserver")', "cmd/kubectl": 'println("kubectl")' };
  await writeModule(join(goFolder, "kubernetes-1.99"), "k8s.io/kubernetes v1.99.1", commands);
}

async function writeModule(
  folder: string,
  requirement: string,
  programs: Readonly<Record<string, string>>,
): Promise<void> {
  const [path = ""] = requirement.split(" ");
  const goMod = [
    "module test.local/recipe",
    `go ${PROGRAM_GO_VERSION}`,
    `require ${requirement}`,
    `replace ${path} => ./program`,
  ];
  await mkdir(join(folder, "program"), { recursive: true });
  await writeFile(join(folder, "go.mod"), `${goMod.join("\n")}\n`);
  await writeFile(join(folder, "go.sum"), "");
  await writeFile(join(folder, "program", "go.mod"), `module ${path}\ngo ${PROGRAM_GO_VERSION}\n`);
  for (const [place, statement] of Object.entries(programs)) {
    await mkdir(join(folder, "program", place), { recursive: true });
    const text = `package main\n\nimport "fmt"\n\nfunc println(text string) { fmt.Println(text) }\n\nfunc main() { ${statement} }\n`;
    await writeFile(join(folder, "program", place, "main.go"), text);
  }
}

/** Go as the machine has it, with its compile cache so that tests only link, and without a way to the network. */
function goEnvironment(): {
  readonly PATH: string;
  readonly GOCACHE: string;
  readonly GOPROXY: string;
  readonly GOTOOLCHAIN: string;
} {
  const goCache = execFileSync("go", ["env", "GOCACHE"], { encoding: "utf8" }).trim();
  return { PATH: realSystem.env["PATH"] ?? "", GOCACHE: goCache, GOPROXY: "off", GOTOOLCHAIN: "local" };
}

async function listCache(root: string, project: string): Promise<readonly string[]> {
  const folders = (await readdir(root)).filter((name) => name.startsWith(`${project}-`));
  const names = await Promise.all(folders.map(async (name) => await readdir(join(root, name))));
  return names.flat().toSorted();
}
