import type { SharedCluster } from "@quartermaster/testkit";

/** Where a plan is served. */
export function planPath(namespace: string, name: string): string {
  return `/apis/install.quartermaster.dev/v1alpha1/namespaces/${namespace}/installplans/${name}`;
}

/** Writes a status as the operator would. */
export async function writeStatus({ api }: SharedCluster, path: string, status: object): Promise<void> {
  const response = await api.send({
    method: "PATCH",
    path: `${path}/status`,
    body: { status },
    contentType: "application/merge-patch+json",
  });
  if (response.status !== 200) throw new Error(`status of ${path}: ${response.status} ${response.body}`);
}

/** Reads an object; undefined when there is none. */
export async function readObject<T>({ api }: SharedCluster, path: string): Promise<T | undefined> {
  const { status, body } = await api.send({ path });
  return status === 404 ? undefined : (JSON.parse(body) as T);
}
