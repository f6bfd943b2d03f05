import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";

import { helm, type HelmResult, type HelmVersion } from "./helm.ts";

/** Directory of the chart with everything. */
export const chart = "deploy/charts/quartermaster";

/** Arguments of `helm template`. */
export interface Rendering {
  readonly namespace?: string;
  /** Values as `--set` takes them, e.g. `domains.search.enabled=true`. */
  readonly values?: readonly string[];
  /** Only this template, e.g. `templates/share-driver.yaml`. */
  readonly only?: readonly string[];
  /** Kubernetes that it is rendered for, e.g. `1.30.0` (default: 1.36, because that of Helm changes with Helm). */
  readonly kubernetes?: string;
  readonly helm?: HelmVersion;
}

/** Renders the chart; throws with the message of Helm. */
export function renderChart(rendering: Rendering): string {
  const { code, stdout, stderr } = tryRender(rendering);
  if (code !== 0) throw new Error(stderr);
  return stdout;
}

/** Renders the chart, or returns why not. */
export function tryRender({
  namespace = "quartermaster",
  values = [],
  only = [],
  kubernetes = "1.36.0",
  helm: version = 4,
}: Rendering): HelmResult {
  const args = [
    "template",
    "quartermaster",
    chart,
    "--namespace",
    namespace,
    "--kube-version",
    kubernetes,
    ...values.flatMap((each) => ["--set", each]),
    ...only.flatMap((each) => ["--show-only", each]),
  ];
  return helm(args, { version });
}

/** Digest of every file of the charts, by which `make check` recognizes rendered files that are out of date. */
export function chartDigest(): string {
  const root = join(import.meta.dirname, "../..", chart);
  const hash = createHash("sha256");
  const files = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(root, join(parentPath, name)));
  for (const file of files.toSorted())
    hash
      .update(file)
      .update("\0")
      .update(readFileSync(join(root, file)));
  return hash.digest("hex");
}
