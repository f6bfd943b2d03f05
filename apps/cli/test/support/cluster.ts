import { readFileSync } from "node:fs";
import { join } from "node:path";

import { eventually, type SharedCluster } from "@quartermaster/testkit";
import { parse } from "yaml";

const repository = join(import.meta.dirname, "../../../..");
const group = "install.quartermaster.dev";

/** Applies the committed CRDs of plans and waits until their kinds are served. */
export async function installKinds(cluster: SharedCluster): Promise<void> {
  for (const plural of ["installplans", "resourcemanifests"])
    await installKind(cluster, { ofGroup: group, version: "v1alpha1" }, plural);
}

/** The same for bundles. */
export async function installBundleKinds(cluster: SharedCluster): Promise<void> {
  for (const plural of ["bundles", "clusterbundles"])
    await installKind(cluster, { ofGroup: "subscription.openshift.io", version: "v1alpha1" }, plural);
}

/** The same for search clusters. */
export async function installSearchKinds(cluster: SharedCluster): Promise<void> {
  await installKind(cluster, { ofGroup: "opensearch.org", version: "v1" }, "opensearchclusters");
  await installKind(cluster, { ofGroup: "opensearch.opster.io", version: "v1" }, "opensearchclusters");
  const ofGroup = "elasticsearch.k8s.elastic.co";
  await installKind(cluster, { ofGroup, version: "v1alpha1" }, "elasticsearchclusters");
}

interface ServedGroup {
  readonly ofGroup: string;
  readonly version: string;
}

async function installKind(
  { api }: SharedCluster,
  { ofGroup, version }: ServedGroup,
  plural: string,
): Promise<void> {
  const file = join(repository, `config/crd/${ofGroup}_${plural}.yaml`);
  const definition: unknown = parse(readFileSync(file, "utf8"));
  await api.apply(`/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${plural}.${ofGroup}`, definition);
  await eventually(
    async (see) => see((await api.send({ path: `/apis/${ofGroup}/${version}/${plural}` })).status) === 200,
  );
}

/** Where a plan is served. */
export function planPath(namespace: string, name: string): string {
  return `/apis/${group}/v1alpha1/namespaces/${namespace}/installplans/${name}`;
}

/** Writes a status as the operator would. */
export async function writeStatus({ api }: SharedCluster, path: string, status: object): Promise<void> {
  const answer = await api.send({
    method: "PATCH",
    path: `${path}/status`,
    body: { status },
    contentType: "application/merge-patch+json",
  });
  if (answer.status !== 200) throw new Error(`status of ${path}: ${answer.status} ${answer.body}`);
}

/** Reads an object; undefined when there is none. */
export async function readObject<T>({ api }: SharedCluster, path: string): Promise<T | undefined> {
  const { status, body } = await api.send({ path });
  return status === 404 ? undefined : (JSON.parse(body) as T);
}
