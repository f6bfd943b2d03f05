import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

import { CliError } from "../errors.ts";

/** Runs kubectl as the cluster's administrator and gives what it wrote. Throws CliError with what it complained of. */
export type Kubectl = (args: readonly string[]) => Promise<string>;

/** The kubectl of the cluster in this folder. */
export function kubectlIn(folder: string): Kubectl {
  // kubectl's cache of discovery would otherwise stay in the user's home when the cluster is gone.
  const always = [
    `--kubeconfig=${join(folder, "kubeconfig")}`,
    `--cache-dir=${join(folder, "kubectl-cache")}`,
  ];
  return async (args) => {
    try {
      const { stdout } = await run(join(folder, "bin/kubectl"), [...always, ...args], { timeout: limitMs });
      return stdout;
    } catch (error) {
      const complaint =
        error instanceof Error && "stderr" in error ? String(error.stderr).trim() : String(error);
      throw new CliError(`kubectl ${args[0] ?? ""}: ${complaint}`);
    }
  };
}

const run = promisify(execFile);
const limitMs = 60_000;
