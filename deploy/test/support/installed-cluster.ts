import { readFileSync } from "node:fs";
import { join } from "node:path";

import type { LocalCluster } from "@quartermaster/testkit";

import { helm, type HelmVersion } from "../../manifests/helm.ts";

/** Root of the repository. */
export const repository: string = join(import.meta.dirname, "../../..");

/** Commands of a program in one chapter of docs/guides/install.md, each on one line. */
export function commandsIn(chapter: string, program: "helm" | "kubectl"): readonly string[] {
  const text = (chapters.get(chapter) ?? "").replaceAll(/\\\n */g, "");
  return [...text.matchAll(new RegExp(`^${program} (.*)$`, "gm"))].map(([, line = ""]) => line);
}

const chapters = new Map(
  readFileSync(join(repository, "docs/guides/install.md"), "utf8")
    .split(/^##? /m)
    .map((chapter) => [chapter.split("\n")[0] ?? "", chapter]),
);

/** Runs Helm on the cluster and prints how long it took. Throws with the message of Helm. */
export function runHelm(cluster: LocalCluster, line: string, version: HelmVersion = 4): string {
  const startMs = performance.now();
  const { kubeconfigPath } = cluster;
  const { code, stdout, stderr } = helm(line.split(" "), { kubeconfigPath, version });
  if (code !== 0) throw new Error(`helm ${line}: ${stderr}`);
  const [command = ""] = line.split(" ");
  process.stdout.write(`helm ${version} ${command}: ${String(Math.round(performance.now() - startMs))} ms\n`);
  return stdout;
}

/** Runs kubectl as administrator. Throws with its message. */
export async function kubectl(cluster: LocalCluster, line: string): Promise<string> {
  const { code, stdout, stderr } = await cluster.kubectl(line.split(" "));
  if (code !== 0) throw new Error(`kubectl ${line}: ${stderr}`);
  return stdout;
}

/** For some seconds after a kind is served the admission policies do not know it yet. */
export async function isApplied(cluster: LocalCluster, file: string, flags = ""): Promise<boolean> {
  const args = ["apply", "--server-side", "-f", file, ...flags.split(" ").filter(Boolean)];
  return (await cluster.kubectl(args)).code === 0;
}

/** Values of the objects of a `kubectl get`, in their order. */
export async function fieldsOf(cluster: LocalCluster, objects: string, field: string): Promise<string> {
  return await kubectl(cluster, `get ${objects} -o jsonpath={.items[*].${field}}`);
}
