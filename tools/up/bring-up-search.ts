import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { reachPods, runBeside } from "@quartermaster/local-cluster";

import type { CommandContext } from "../../command.ts";
import { CliError } from "../../errors.ts";
import { exitCode } from "../../exit-code.ts";
import { run } from "../../run.ts";
import { type Kubectl, kubectlIn } from "../kubectl.ts";
import type { SearchSample } from "./search-samples.ts";
import { trySearch } from "./try-search.ts";

/** What bringing it up needs. */
export interface SearchParts {
  readonly context: CommandContext;
  /** Applies a file, again while the server does not know its kinds yet. */
  readonly apply: (file: string) => Promise<void>;
}

/** Makes a search cluster of the samples, waits until its health is green, and says how to index and search a document. */
export async function bringUpSearch(
  folder: string,
  sample: SearchSample,
  { context, apply }: SearchParts,
): Promise<void> {
  const kubectl = kubectlIn(folder);
  await needsSearch(folder, kubectl);
  await reachPods(folder);
  await apply(sample.file);
  const place = [sample.name, "-n", sample.namespace, "--kubeconfig", join(folder, "kubeconfig")];
  const watching = ["--watch", "--health", "green", "--timeout", String(patienceSeconds)];
  const code = await run(["search", "status", ...place, ...watching], context);
  if (code !== exitCode.ok)
    throw new CliError(
      `search cluster ${sample.name} is not green; the operator's log may say why: ${join(folder, "logs/operator.log")}`,
    );
  const caPath = join(folder, `${sample.name}-ca.crt`);
  await writeFile(caPath, await authorityOf(sample, kubectl));
  const port = await openPort(folder, sample, context);
  context.terminal.write(trySearch({ ...sample, caPath, port }));
}

const patienceSeconds = 600;

/** Notes in the cluster's folder that its operator looks after search clusters. */
export async function rememberSearch(folder: string): Promise<void> {
  await writeFile(join(folder, "with-search"), "");
}

async function needsSearch(folder: string, kubectl: Kubectl): Promise<void> {
  if (!existsSync(join(folder, "with-search")))
    throw new CliError(
      "the local cluster runs without search clusters; end it with make down, then try again",
    );
  const realNodes = await kubectl(["get", "nodes", "-l", "type!=kwok", "-o", "name"]);
  if (realNodes === "")
    throw new CliError("search clusters need real nodes, which this machine or this profile does not have");
}

async function authorityOf(sample: SearchSample, kubectl: Kubectl): Promise<string> {
  const secret = ["-n", sample.namespace, "get", "secret", `${sample.name}-http-cert`];
  return await kubectl([...secret, "-o", 'go-template={{index .data "ca.crt" | base64decode}}']);
}

/** A port of this machine that leads to the cluster's Service, for as long as the local cluster lives. */
async function openPort(folder: string, sample: SearchSample, context: CommandContext): Promise<string> {
  const name = `search-port-${sample.namespace}-${sample.name}`;
  const portFile = join(folder, name);
  const companion = runBeside(folder, {
    name,
    command: process.execPath,
    args: [
      join(import.meta.dirname, "service-port.ts"),
      folder,
      sample.namespace,
      sample.name,
      "9200",
      portFile,
    ],
  });
  while (!existsSync(portFile)) {
    if (!companion.isRunning())
      throw new CliError(`the way to Service ${sample.name} ended; see ${companion.logPath}`);
    await context.system.sleep(100, context.signal);
  }
  return await readFile(portFile, "utf8");
}
