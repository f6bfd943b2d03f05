import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { reachPods, runBeside } from "@quartermaster/local-cluster";

import { applySample } from "./apply-samples.ts";
import { hasRealNodes, type Kubectl, kubectlIn, repository, runQm, UpError } from "./programs.ts";
import type { SearchSample } from "./search-options.ts";

/** Makes a search cluster of the samples, waits until its health is green, and prints how to index and search a document. */
export async function bringUpSearch(directory: string, sample: SearchSample): Promise<void> {
  const kubectl = kubectlIn(directory);
  await needsSearch(directory, kubectl);
  await reachPods(directory);
  await applySample(kubectl, sample.file);
  const watching = ["--watch", "--health", "green", "--timeout", String(timeoutSeconds)];
  if (!(await runQm(directory, ["search", "status", sample.name, "-n", sample.namespace, ...watching])))
    throw new UpError(
      `search cluster ${sample.name} is not green; the operator's log may say why: ${join(directory, "logs/operator.log")}`,
    );
  const caPath = join(directory, `${sample.name}-ca.crt`);
  const secret = ["-n", sample.namespace, "get", "secret", `${sample.name}-http-cert`];
  const ca = await kubectl([...secret, "-o", 'go-template={{index .data "ca.crt" | base64decode}}']);
  await writeFile(caPath, ca);
  const port = await openPort(directory, sample);
  process.stdout.write(`${trySearch({ ...sample, caPath, port })}\n`);
}

const timeoutSeconds = 600;

/** Records in the cluster's directory that its operator runs the search domain. */
export async function rememberSearch(directory: string): Promise<void> {
  await writeFile(join(directory, "with-search"), "");
}

async function needsSearch(directory: string, kubectl: Kubectl): Promise<void> {
  if (!existsSync(join(directory, "with-search")))
    throw new UpError(
      "the local cluster runs without search clusters; end it with make down, then try again",
    );
  if (!(await hasRealNodes(kubectl)))
    throw new UpError("search clusters need real nodes, which this machine or this profile does not have");
}

/** A port of this machine that leads to the cluster's Service until the local cluster ends. */
async function openPort(directory: string, { namespace, name }: SearchSample): Promise<string> {
  const companionName = `search-port-${namespace}-${name}`;
  const portFile = join(directory, companionName);
  const program = join(import.meta.dirname, "service-port.ts");
  const companion = runBeside(directory, {
    name: companionName,
    command: process.execPath,
    args: [program, directory, namespace, name, "9200", portFile],
  });
  while (!existsSync(portFile)) {
    if (!companion.isRunning())
      throw new UpError(`the way to Service ${name} ended; see ${companion.logPath}`);
    await sleep(100);
  }
  return await readFile(portFile, "utf8");
}

interface SearchAddress extends SearchSample {
  /** File with the CA of its certificate. */
  readonly caPath: string;
  /** Port of this machine that leads to it. */
  readonly port: string;
}

/** The last lines of `make up WITH=search`. A test runs each command. The password comes from the Secret and is no argument of curl. */
function trySearch({ namespace, name, caPath, port, ...sample }: SearchAddress): string {
  const login = `kubectl -n ${namespace} get secret ${name}-admin-password -o go-template='user = "{{.data.username | base64decode}}:{{.data.password | base64decode}}"'`;
  const curl = `curl -sS -K - --cacert ${caPath} --connect-to ::127.0.0.1:${port}`;
  const address = `https://${name}.${namespace}.svc:9200/books`;
  return `
Search cluster ${namespace}/${name} is green. Index a document, then search it:

    ${login} | ${curl} -X PUT '${address}/_doc/1?refresh=true' -H 'content-type: application/json' -d '{"title":"Emma"}'
    ${login} | ${curl} '${address}/_search?q=title:emma'

  see its nodes, and what an edit would do
    npx qm search status ${name} -n ${namespace}
    npx qm search plan -f ${relative(repository, sample.file)}
${sample.engine === "elasticsearch" ? licenseHint(`${sample.resource} ${name} -n ${namespace}`) : elasticsearchHint}`;
}

/** Under a trial everything works for 30 days. */
function licenseHint(cluster: string): string {
  return `
  see its license
    kubectl get ${cluster} -o jsonpath='{.status.license.type} until {.status.license.expiryTime}{"\\n"}'
`;
}

const elasticsearchHint = `
  an Elasticsearch under a trial license as well: make down, then make up WITH=search,elasticsearch
`;

/** Enables monitoring, waits until the pods are ready, and prints how to see it. Without Grafana, whose image is not made here. */
export async function bringUpMonitoring(directory: string, sample: SearchSample): Promise<void> {
  const { resource, namespace, name } = sample;
  const kubectl = kubectlIn(directory);
  const monitoring = { enable: true, scrapeInterval: "15s", stack: { grafana: { enable: false } } };
  const patch = JSON.stringify({ spec: { general: { monitoring } } });
  const object = [resource, name, "-n", namespace];
  await kubectl(["patch", ...object, "--type=merge", "-p", patch]);
  await kubectl(["wait", ...object, "--for=condition=MonitoringReady", "--timeout=180s"]);
  process.stdout.write(`
Search cluster ${namespace}/${name} is monitored; its Prometheus and Alertmanager run. Figures begin within a minute:

    npx qm search dashboards ${name} -n ${namespace} --since 10m -o overview.html

`);
}
