import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";

import { buildGoProgram } from "@quartermaster/tools/go-program";

const repository = join(import.meta.dirname, "../..");

/** Directory of the chart with everything. */
const chart = join(repository, "deploy/charts/quartermaster");

/** How `helm template` is called. */
export interface Rendering {
  readonly namespace: string;
  /** Values as `--set` takes them, e.g. `domains.search.enabled=true`. */
  readonly values?: readonly string[];
  /** Only this template, e.g. `templates/share-driver.yaml`. */
  readonly only?: readonly string[];
  /** Kubernetes that it is rendered for, e.g. `1.30.0` (default: Helm's own). */
  readonly kubernetes?: string;
}

/** What Helm wrote. */
export interface HelmResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Helm 4, built from its module once per machine. */
function helmProgram(): string {
  const module = join(repository, "bench/peers/helm");
  return buildGoProgram({ module, package: "helm.sh/helm/v4/cmd/helm", name: "helm-helm" });
}

/** Runs Helm without settings of the user. */
export function helm(args: readonly string[], env: Readonly<Record<string, string>> = {}): HelmResult {
  const { status, stdout, stderr } = spawnSync(helmProgram(), [...args], {
    encoding: "utf8",
    maxBuffer: 64 * 1024 ** 2,
    env: { PATH: "/usr/bin:/bin", HOME: "/nonexistent", ...env },
  });
  return { code: status ?? 1, stdout, stderr };
}

/** Renders the chart; throws with the message of Helm. */
export function renderChart(rendering: Rendering): string {
  const { code, stdout, stderr } = helm(templateArgs(rendering));
  if (code !== 0) throw new Error(stderr);
  return stdout;
}

/** Arguments that render the chart. */
function templateArgs({ namespace, values = [], only = [], kubernetes }: Rendering): readonly string[] {
  return [
    "template",
    "quartermaster",
    chart,
    "--namespace",
    namespace,
    ...(kubernetes === undefined ? [] : ["--kube-version", kubernetes]),
    ...values.flatMap((each) => ["--set", each]),
    ...only.flatMap((each) => ["--show-only", each]),
  ];
}

/** Digest of every file of the charts, by which `make check` recognizes rendered files that are out of date. */
export function chartDigest(): string {
  const hash = createHash("sha256");
  const files = readdirSync(chart, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(chart, join(parentPath, name)));
  for (const file of files.toSorted())
    hash
      .update(file)
      .update("\0")
      .update(readFileSync(join(chart, file)));
  return hash.digest("hex");
}
