import { spawnSync } from "node:child_process";
import { join } from "node:path";

import { buildGoProgram } from "@quartermaster/tools/go-program";

const repository = join(import.meta.dirname, "../..");

/** Major versions of Helm that the charts are for. */
export type HelmVersion = 3 | 4;

/** How Helm is called. */
export interface HelmCall {
  /** (default: 4) */
  readonly version?: HelmVersion;
  /** Kubeconfig of the cluster (default: none). */
  readonly kubeconfigPath?: string;
}

/** Output of Helm. */
export interface HelmResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs Helm from the root of the repository, without settings of the user. It is built from its module once per machine. */
export function helm(args: readonly string[], { version = 4, kubeconfigPath }: HelmCall = {}): HelmResult {
  const { status, stdout, stderr } = spawnSync(programOf(version), [...args], {
    cwd: repository,
    encoding: "utf8",
    maxBuffer: 64 * 1024 ** 2,
    env: {
      PATH: "/usr/bin:/bin",
      HOME: "/nonexistent",
      ...(kubeconfigPath === undefined ? {} : { KUBECONFIG: kubeconfigPath }),
    },
  });
  return { code: status ?? 1, stdout, stderr };
}

function programOf(version: HelmVersion): string {
  const known = programs.get(version);
  if (known !== undefined) return known;
  const { directory, name } = modules[version];
  const built = buildGoProgram({
    module: join(repository, directory),
    package: `helm.sh/helm/v${version}/cmd/helm`,
    name,
  });
  programs.set(version, built);
  return built;
}

const programs = new Map<HelmVersion, string>();

const modules = {
  3: { directory: "deploy/helm-3", name: "helm-3" },
  // The benchmarks use it too.
  4: { directory: "bench/peers/helm", name: "helm-helm" },
} as const;
