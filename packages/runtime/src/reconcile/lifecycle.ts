import type { Client } from "../client/client.ts";
import { classify } from "../errors.ts";
import type { Kind } from "../object/kind.ts";
import type { KubeObject, Live } from "../object/kube-object.ts";

/**
 * Where an object is in its life, as far as we are concerned: not ours yet, ours, on its way out with our clean-up still
 * owed, or finished (being deleted, with nothing left for us to do).
 */
export type Stage = "needsFinalizer" | "active" | "deleting" | "finalized";

/** The stage of an object. Without a finalizer there is nothing to claim and nothing owed. */
export function lifecycle({ metadata }: KubeObject, finalizer: string | undefined): Stage {
  const hasOwnerLabels = finalizer === undefined || (metadata.finalizers ?? []).includes(finalizer);
  if (metadata.deletionTimestamp === undefined) return hasOwnerLabels ? "active" : "needsFinalizer";
  return hasOwnerLabels && finalizer !== undefined ? "deleting" : "finalized";
}

/**
 * Puts our finalizer on the object. Conflicts when the object is not exactly the one we saw: the list of finalizers is
 * replaced as a whole, and those of others must survive.
 */
export async function addFinalizer<O extends KubeObject>(
  client: Client,
  kind: Kind<O>,
  position: Position<O>,
): Promise<Live<O>> {
  const { object, finalizer } = position;
  return await writeFinalizers(client, kind, {
    object,
    finalizers: [...(object.metadata.finalizers ?? []), finalizer],
  });
}

/** Takes our finalizer off; an object that is already deleted counts as done. */
export async function removeFinalizer<O extends KubeObject>(
  client: Client,
  kind: Kind<O>,
  { object, finalizer }: Position<O>,
): Promise<void> {
  const finalizers = (object.metadata.finalizers ?? []).filter((other) => other !== finalizer);
  try {
    await writeFinalizers(client, kind, { object, finalizers });
  } catch (error) {
    if (classify(error) !== "notFound") throw error;
  }
}

interface Position<O extends KubeObject> {
  readonly object: Live<O>;
  readonly finalizer: string;
}

/** A merge patch and no JSON patch: a failed `test` of the latter gets the response of a malformed one, not as a conflict. */
async function writeFinalizers<O extends KubeObject>(
  client: Client,
  kind: Kind<O>,
  { object, finalizers }: { readonly object: Live<O>; readonly finalizers: readonly string[] },
): Promise<Live<O>> {
  const { uid, resourceVersion } = object.metadata;
  const body = { metadata: { uid, resourceVersion, finalizers } };
  return await client.patch(kind, object.metadata, { patch: { kind: "merge", body } });
}
