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
  readonly directory: string;
  readonly goDirectory: string;
  readonly env: Readonly<Record<string, string>>;
  /** What was reported so far, as lines. */
  readonly lines: readonly string[];
  resolve(request: Partial<BinariesRequest>, env?: Readonly<Record<string, string>>): Promise<Binaries>;
  /** Everything in the cache directory of the project, sorted. */
  cacheContent(project: string): Promise<readonly string[]>;
  /** Puts an executable script into a directory of its own and returns a PATH that finds it first. */
  script(name: string, text: string): Promise<string>;
}

/** Opens a workshop below the system's temporary directory. */
export async function openWorkshop(): Promise<Workshop> {
  const directory = await mkdtemp(join(tmpdir(), "qm-assets-"));
  const goDirectory = join(directory, "go");
  await writeModules(goDirectory);
  const env = {
    ...goEnvironment(),
    HOME: directory,
    XDG_CACHE_HOME: join(directory, "cache"),
    QM_ASSETS_OFFLINE: "1",
  };
  const lines: string[] = [];
  return {
    directory,
    goDirectory,
    env,
    lines,
    resolve: async (request, extra = {}) =>
      await resolveBinaries({
        components: ["etcd"],
        goDirectory,
        system: { ...realSystem, env: { ...env, ...extra } },
        report: (event) => lines.push(describeProgress(event)),
        ...request,
      }),
    cacheContent: async (project) =>
      await listCache(join(directory, "cache", "quartermaster", "assets"), project),
    script: async (name, text) => {
      const path = join(directory, `bin-${name}`, name);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, text);
      await chmod(path, 0o755);
      return `${dirname(path)}${delimiter}${env.PATH}`;
    },
    [Symbol.asyncDispose]: async () => {
      await rm(directory, { recursive: true, force: true });
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

/** The real versions' modules replaced by a directory beside them: no download, no go.sum, the same commands. */
async function writeModules(goDirectory: string): Promise<void> {
  await writeModule(join(goDirectory, "etcd"), "go.etcd.io/etcd/server/v3 v3.9.9", {
    ".": 'println("etcd")',
  });
  const commands = { "cmd/kube-apiserver": 'println("kube-apiserver")', "cmd/kubectl": 'println("kubectl")' };
  await writeModule(join(goDirectory, "kubernetes-1.99"), "k8s.io/kubernetes v1.99.1", commands);
}

async function writeModule(
  directory: string,
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
  await mkdir(join(directory, "program"), { recursive: true });
  await writeFile(join(directory, "go.mod"), `${goMod.join("\n")}\n`);
  await writeFile(join(directory, "go.sum"), "");
  await writeFile(join(directory, "program", "go.mod"), `module ${path}\ngo ${PROGRAM_GO_VERSION}\n`);
  for (const [location, statement] of Object.entries(programs)) {
    await mkdir(join(directory, "program", location), { recursive: true });
    const text = `package main\n\nimport "fmt"\n\nfunc println(text string) { fmt.Println(text) }\n\nfunc main() { ${statement} }\n`;
    await writeFile(join(directory, "program", location, "main.go"), text);
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
  const directories = (await readdir(root)).filter((name) => name.startsWith(`${project}-`));
  const names = await Promise.all(directories.map(async (name) => await readdir(join(root, name))));
  return names.flat().toSorted();
}
