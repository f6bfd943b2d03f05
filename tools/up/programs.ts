import { execFile, spawn } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

/** The directory of this repository: `make up` takes the operator, its manifests and the samples from there. */
export const repository: string = join(import.meta.dirname, "../..");

/** Ends `make up` with a message: what is wrong, then what to do. */
export class UpError extends Error {
  override readonly name = "UpError";
  /** 1 for a failure, 2 for a command line that is wrong. */
  readonly exitCode: number;

  constructor(message: string, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** Runs kubectl as the cluster's administrator and returns what it wrote. Throws UpError with its error message. */
export type Kubectl = (args: readonly string[]) => Promise<string>;

/** The kubectl of the cluster in this directory. */
export function kubectlIn(directory: string): Kubectl {
  // kubectl's cache of discovery would otherwise stay in the user's home when the cluster no longer exists.
  const always = [
    `--kubeconfig=${join(directory, "kubeconfig")}`,
    `--cache-dir=${join(directory, "kubectl-cache")}`,
  ];
  return async (args) => {
    try {
      const { stdout } = await run(join(directory, "bin/kubectl"), [...always, ...args], {
        timeout: limitMs,
      });
      return stdout;
    } catch (error) {
      const complaint =
        error instanceof Error && "stderr" in error ? String(error.stderr).trim() : String(error);
      throw new UpError(`kubectl ${args[0] ?? ""}: ${complaint}`);
    }
  };
}

const run = promisify(execFile);
const limitMs = 60_000;

/** Whether the cluster has real nodes: simulated pods hold no files and run no programs. */
export async function hasRealNodes(kubectl: Kubectl): Promise<boolean> {
  return (await kubectl(["get", "nodes", "-l", "type!=kwok", "-o", "name"])) !== "";
}

/** Runs a `qm` command on the cluster in this directory, at the same terminal; false if it fails. */
export async function runQm(directory: string, args: readonly string[]): Promise<boolean> {
  const main = join(repository, "apps/cli/src/main.ts");
  const all = [main, ...args, "--kubeconfig", join(directory, "kubeconfig")];
  const { promise, resolve, reject } = Promise.withResolvers<boolean>();
  spawn(process.execPath, all, { stdio: "inherit" })
    .once("error", reject)
    .once("close", (code) => resolve(code === 0));
  return await promise;
}

/** Makes the image of one of our programs and returns the directory of its layout. */
export async function makeProgramImage(name: "share-driver" | "search-exporter"): Promise<string> {
  const layout = join(repository, `dist/${name}-image`);
  const program = join(repository, "deploy/image/main.ts");
  await run(process.execPath, [program, "--image", name, "--output", layout, "--compression", "none"]);
  return layout;
}
