import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { installPlan } from "@quartermaster/api";
import { ApiClient, type LocalCluster, startLocalCluster } from "@quartermaster/local-cluster";
import {
  type Client,
  createClient,
  createManager,
  createTransport,
  loadConfig,
  realSystem,
} from "@quartermaster/runtime";
import { AuditLog } from "@quartermaster/testkit";

import { buildGoProgram } from "../programs.ts";
import type { BenchOptions } from "../table.ts";
import { OperatorProcess } from "./operator-process.ts";
import type { PlanStore } from "./plans.ts";
import { bundleOperator, goPeers } from "./programs.ts";

/** The one API server on which all contestants are measured, with the operator beside it. */
export interface PlanBed extends AsyncDisposable {
  readonly cluster: LocalCluster;
  readonly client: Client;
  readonly plans: PlanStore;
  readonly audit: AuditLog;
  /** For files that contestants read. */
  readonly directory: string;
  readonly options: BenchOptions;
  readonly operator: OperatorProcess;
  readonly programs: Readonly<Record<"kubectl" | "helm" | "kapp", string>>;
  /** For command-line tools. */
  readonly env: Readonly<Record<string, string>>;
  /** A namespace with an account `installer` that may do everything. */
  makeNamespace(name: string): Promise<void>;
}

const repository = join(import.meta.dirname, "../..");

/** Starts a control plane whose every request is audited, and the operator with the permissions that we ship. */
export async function makePlanBed(options: BenchOptions): Promise<PlanBed> {
  const [helm = "", kapp = ""] = goPeers.map(buildGoProgram);
  const program = await bundleOperator();
  await using stack = new AsyncDisposableStack();
  const cluster = stack.use(await startLocalCluster({ kwokNodes: 1, audit: "Metadata" }));
  const directory = mkdtempSync(join(tmpdir(), "qm-bench-"));
  stack.defer(() => rmSync(directory, { recursive: true, force: true }));
  await installNeeds(cluster);
  const kubeconfigPath = await operatorKubeconfig(cluster, directory);
  const operator = stack.use(new OperatorProcess({ program, kubeconfigPath, directory }));
  await operator.ready();
  const system = realSystem();
  const config = await loadConfig({ system, kubeconfigPath: cluster.kubeconfigPath });
  const transport = stack.use(createTransport({ config, system }));
  const client = createClient({ transport });
  const manager = stack.use(createManager({ transport, system, controllers: [] }));
  const { store: plans } = stack.use(manager.informers.acquire({ kind: installPlan.kind }));
  const audit = new AuditLog(cluster.auditLogPath ?? "", stack.use(new ApiClient(cluster.admin)));
  const owned = stack.move();
  return {
    cluster,
    client,
    plans,
    audit,
    directory,
    options,
    operator,
    programs: { kubectl: join(cluster.directory, "bin/kubectl"), helm, kapp },
    env: { KUBECONFIG: cluster.kubeconfigPath, KUBECACHEDIR: join(directory, "kubectl"), HOME: directory },
    makeNamespace: async (name) => await makeNamespace(cluster, name),
    [Symbol.asyncDispose]: async () => await owned.disposeAsync(),
  };
}

async function installNeeds(cluster: LocalCluster): Promise<void> {
  const directories = ["config/crd", "config/rbac"].flatMap((path) => ["-f", join(repository, path)]);
  await must(cluster, ["apply", "--server-side", ...directories]);
  await must(cluster, ["wait", "--for=condition=Established", "-f", join(repository, "config/crd")]);
}

async function operatorKubeconfig(cluster: LocalCluster, directory: string): Promise<string> {
  const account = ["quartermaster-operator", "--namespace=quartermaster"];
  const token = (await must(cluster, ["create", "token", ...account, "--duration=24h"])).trim();
  const { server, caPem } = cluster.admin;
  const ca = Buffer.from(caPem).toString("base64");
  const path = join(directory, "operator.kubeconfig");
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "bench", cluster: { server, "certificate-authority-data": ca } }],
    users: [{ name: "operator", user: { token } }],
    contexts: [{ name: "bench", context: { cluster: "bench", user: "operator" } }],
    "current-context": "bench",
  };
  writeFileSync(path, JSON.stringify(config), { mode: 0o600 });
  return path;
}

async function makeNamespace(cluster: LocalCluster, name: string): Promise<void> {
  await must(cluster, ["create", "namespace", name]);
  await must(cluster, ["create", "serviceaccount", "installer", "-n", name]);
  const binding = ["clusterrolebinding", name, "--clusterrole=cluster-admin"];
  await must(cluster, ["create", ...binding, `--serviceaccount=${name}:installer`]);
}

async function must(cluster: LocalCluster, args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await cluster.kubectl(args);
  if (code !== 0) throw new Error(`kubectl ${args.join(" ")}: ${stderr}`);
  return stdout;
}
