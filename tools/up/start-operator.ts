import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { podSocketOf, reachHostPort, runBeside, type RunningCompanion } from "@quartermaster/local-cluster";
import { parse, stringify } from "yaml";
import { z } from "zod";

import { type Kubectl, repository } from "./programs.ts";

/**
 * Starts the operator's two roles beside the cluster, each with its own account. Those that run already are left alone. With search
 * clusters it needs a way to pods; `reachPods` opens that later, when there are nodes.
 */
export async function startOperator(
  directory: string,
  kubectl: Kubectl,
  { withSearch }: { readonly withSearch: boolean },
): Promise<RunningCompanion> {
  const [kubeconfigPath, webhookKubeconfigPath, port] = await Promise.all([
    operatorKubeconfig(directory, kubectl, "operator"),
    operatorKubeconfig(directory, kubectl, "webhook"),
    webhookPort(directory),
  ]);
  const webhook = ["--webhook-url", `https://127.0.0.1:${port}`, "--webhook-namespace", "quartermaster"];
  const listening = ["--webhook-host", "127.0.0.1", "--webhook-port", String(port)];
  const role = ["--domains", "subscription", "--roles", "webhook"];
  runBeside(directory, {
    name: "webhook",
    command: process.execPath,
    args: operatorArguments(webhookKubeconfigPath, [...role, ...webhook, ...listening]),
  });
  const domains = ["--domains", "install-plan,search,subscription"];
  const search = [...domains, "--engine-proxy", `unix:${podSocketOf(directory)}`];
  return runBeside(directory, {
    name: "operator",
    command: process.execPath,
    args: operatorArguments(kubeconfigPath, withSearch ? [...webhook, ...search] : webhook),
  });
}

const adminConfig = z.looseObject({
  users: z.tuple([z.object({ name: z.string(), user: z.looseObject({}) })]),
});

/**
 * Writes a kubeconfig with which the operator is its own account and not the administrator, so that what it may do here is what
 * config/rbac gives it. Returns the path.
 */
async function operatorKubeconfig(
  directory: string,
  kubectl: Kubectl,
  name: "operator" | "webhook",
): Promise<string> {
  const account = [`quartermaster-${name}`, "--namespace=quartermaster"];
  const token = await kubectl(["create", "token", ...account, "--duration=8760h"]);
  const admin = adminConfig.parse(parse(await readFile(join(directory, "kubeconfig"), "utf8")));
  const users = [{ name: admin.users[0].name, user: { token: token.trim() } }];
  const path = join(directory, `${name}.kubeconfig`);
  await writeFile(path, stringify({ ...admin, users }), { mode: 0o600 });
  return path;
}

/** Chosen once for each cluster: a second `make up` finds both roles where the first one left them. */
async function webhookPort(directory: string): Promise<number> {
  const path = join(directory, "webhook-port");
  if (existsSync(path)) return Number(await readFile(path, "utf8"));
  const port = await reachHostPort(directory);
  await writeFile(path, String(port));
  return port;
}

/** Young objects get 4 MB at a time: docs/decisions/0008. Any free port, because several clusters may be up. */
function operatorArguments(kubeconfigPath: string, more: readonly string[]): readonly string[] {
  const main = join(repository, "apps/operator/src/main.ts");
  const metrics = ["--metrics-host", "127.0.0.1", "--metrics-port", "0"];
  return ["--max-semi-space-size=4", main, "--kubeconfig", kubeconfigPath, ...metrics, ...more];
}
