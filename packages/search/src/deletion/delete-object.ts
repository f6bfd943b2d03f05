import { classify, type Client, type Kind } from "@quartermaster/runtime";
import { persistentVolumeClaims, secrets } from "@quartermaster/runtime/kinds";

import { EngineError } from "../engine/engine-error.ts";
import { ownerLabels } from "../owner-labels.ts";
import type { PerformContext } from "../perform-context.ts";
import type { ActionOf } from "../search-action.ts";
import { isProtected } from "./protection-lane.ts";

/** Only while the cluster's object is still the one that is being deleted. */
export async function deleteChild(
  { resource, name, uid, resourceVersion }: ActionOf<"delete">,
  { ctx, cluster, findCluster }: PerformContext,
): Promise<void> {
  const live = await findCluster();
  if (live?.metadata.uid !== cluster.uid || live.metadata.deletionTimestamp === undefined)
    throw new EngineError(`${name} is not deleted: the cluster is not being deleted.`, { code: "conflict" });
  await deleteObject(ctx.client, resource, { namespace: cluster.namespace, name, uid, resourceVersion });
}

/** Only as long as the spec is the one that does not declare it, and the object is as it was seen. */
export async function pruneChild(
  { resource, name, uid, resourceVersion, generation }: ActionOf<"prune">,
  { ctx, cluster, findCluster }: PerformContext,
): Promise<void> {
  const live = await findCluster();
  if (live?.metadata.uid !== cluster.uid || live.metadata.generation !== generation)
    throw new EngineError(`${name} is not deleted: the cluster was changed meanwhile.`, { code: "conflict" });
  try {
    await deleteObject(ctx.client, resource, { namespace: cluster.namespace, name, uid, resourceVersion });
  } catch (error) {
    // Changed meanwhile: the next reconcile decides again.
    if (classify(error) !== "conflict") throw error;
  }
}

/** The one object to delete, and no other in its place. */
export interface DoomedObject {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** Left out, whatever was changed since does not matter. */
  readonly resourceVersion?: string | undefined;
}

const protectedKinds: ReadonlySet<string> = new Set([persistentVolumeClaims.kind, secrets.kind]);

/** Deletes an object; one that is not there is no error. What is protected loses its protection first, which no other client can do. */
export async function deleteObject(
  client: Pick<Client, "find" | "patch" | "delete">,
  kind: Kind,
  { namespace, name, uid, ...seen }: DoomedObject,
): Promise<void> {
  try {
    const freed = await unprotect(client, kind, { namespace, name, uid, ...seen });
    const resourceVersion = freed ?? seen.resourceVersion;
    await client.delete(
      kind,
      { namespace, name },
      {
        preconditions: { uid, ...(resourceVersion === undefined ? {} : { resourceVersion }) },
        propagation: "Background",
      },
    );
  } catch (error) {
    if (classify(error) !== "notFound") throw error;
  }
}

/** The version of the object without its protection; undefined where it had none. */
async function unprotect(
  client: Pick<Client, "find" | "patch">,
  kind: Kind,
  { namespace, name, uid, resourceVersion }: DoomedObject,
): Promise<string | undefined> {
  if (!protectedKinds.has(kind.kind)) return undefined;
  const live = await client.find(kind, { namespace, name }, { isMetadataOnly: true });
  if (live?.metadata.uid !== uid || !isProtected(live)) return undefined;
  const metadata = {
    uid,
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
    labels: { [ownerLabels.deletionProtected]: null },
  };
  const freed = await client.patch(
    kind,
    { namespace, name },
    { patch: { kind: "merge", body: { metadata } } },
  );
  return freed.metadata.resourceVersion;
}
