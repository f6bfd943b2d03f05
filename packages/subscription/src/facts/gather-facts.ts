import { type Bundle, clusterBundle, type ClusterBundle, share } from "@quartermaster/api";
import {
  type AccessCache,
  type AccessRequest,
  inParallel,
  serviceAccountSubject,
} from "@quartermaster/runtime";

import { shareKinds } from "../cluster-bundle/share-profile.ts";
import { chooseBundles } from "../injection/choose-bundles.ts";
import {
  type Candidate,
  type InjectionFacts,
  type KeyFacts,
  type ObjectIdentity,
  referenceKey,
  referenceLimit,
  referencesOf,
} from "../injection/injection-facts.ts";
import type { PodView } from "../injection/pod-view.ts";
import type { BundleReader } from "./bundle-reader.ts";
import type { KeyIndex } from "./key-index.ts";

export interface FactReaders {
  readonly bundles: Pick<
    BundleReader,
    "labelledBundles" | "labelledClusterBundles" | "bundle" | "clusterBundle"
  >;
  readonly keys: Pick<KeyIndex, "keysOf">;
  readonly access: Pick<AccessCache, "isAllowed">;
}

/** Which pod the facts are for. */
export interface FactRequest {
  readonly pod: PodView;
  /** That of the admission request. */
  readonly namespace: string;
  readonly signal: AbortSignal;
}

/**
 * Reads what the decision upon a pod needs. A failed read for a bundle that the pod names is thrown, so that the failure policy
 * decides; for a bundle that no one requested it only means that the bundle is skipped.
 */
export async function gatherFacts(request: FactRequest, readers: FactReaders): Promise<InjectionFacts> {
  const { pod, namespace, signal } = request;
  const { isSystemCritical } = pod;
  const bundles = byName(isSystemCritical ? [] : readers.bundles.labelledBundles(namespace));
  const clusterBundles = byName(isSystemCritical ? [] : readers.bundles.labelledClusterBundles());
  const access = new Map<string, "allowed" | "denied" | "unknown">();
  const keys = new Map<string, KeyFacts>();
  const choice = chooseBundles(pod.annotations, {
    bundles: [...bundles.keys()],
    clusterBundles: [...clusterBundles.keys()],
  });
  const facts = { namespace, choice, bundles, clusterBundles, access, keys };
  if (choice.kind === "problem" || pod.isMirror || pod.isWindows) return facts;
  const requesting = { request, readers };
  await inParallel(choice.candidates, readsAtOnce, async ({ kind, name, isNamed }) => {
    signal.throwIfAborted();
    if (kind === "Bundle") {
      if (isNamed) setIfFound(bundles, name, await readers.bundles.bundle(namespace, name));
      return;
    }
    const response = await accessTo(
      name,
      { shares: isNamed ? [] : sharesOf(clusterBundles.get(name)), isNamed },
      requesting,
    );
    access.set(name, response);
    if (isNamed && response === "allowed")
      setIfFound(clusterBundles, name, await readers.bundles.clusterBundle(name));
  });
  const objects = objectsOf(choice.candidates, facts);
  for (const [object] of objects.slice(referenceLimit))
    keys.set(referenceKey(object), { kind: "beyondLimit" });
  await inParallel(objects.slice(0, referenceLimit), readsAtOnce, async ([object, isNeeded]) => {
    signal.throwIfAborted();
    keys.set(referenceKey(object), await keysOf(object, isNeeded, readers));
  });
  return facts;
}

/**
 * Whether the pod's account may have a ClusterBundle: `get` on it and, for one that the pod does not name, `use` on its Shares. The
 * share driver reviews the latter, and a pod that does not even know of the bundle would never start.
 */
async function accessTo(
  name: string,
  { shares, isNamed }: { readonly shares: readonly AccessRequest[]; readonly isNamed: boolean },
  { request, readers }: { readonly request: FactRequest; readonly readers: FactReaders },
): Promise<"allowed" | "denied" | "unknown"> {
  const { group, plural: resource } = clusterBundle.kind;
  const { namespace, signal, pod } = request;
  const subject = serviceAccountSubject({ namespace, name: pod.serviceAccount });
  try {
    for (const each of [{ verb: "get", group, resource, name }, ...shares]) {
      // In the pod's namespace: without it, bindings of a namespace would not count.
      const isAllowed = await readers.access.isAllowed({ ...each, namespace }, { signal, subject });
      if (!isAllowed) return "denied";
    }
    return "allowed";
  } catch (error) {
    if (isNamed) throw error;
    return "unknown";
  }
}

/** Reviews of the driver before it mounts the Shares of a bundle. */
function sharesOf(found: ClusterBundle | undefined): readonly AccessRequest[] {
  return (found?.status?.shares ?? []).map(({ name, kind = "Share", apiVersion = "" }) => {
    const known = shareKinds.find((each) => each.kind === kind && apiVersion.startsWith(`${each.group}/`));
    const { group, plural: resource } = known ?? share.kind;
    return { verb: "use", group, resource, name };
  });
}

/** The objects to read, each with whether a named bundle has it. */
function objectsOf(
  candidates: readonly Candidate[],
  facts: InjectionFacts,
): readonly (readonly [ObjectIdentity, boolean])[] {
  const found = new Map<string, readonly [ObjectIdentity, boolean]>();
  for (const candidate of candidates)
    for (const object of readableObjects(candidate, facts)) {
      const key = referenceKey(object);
      found.set(key, [object, candidate.isNamed || found.get(key)?.[1] === true]);
    }
  return [...found.values()];
}

/** Objects of a ClusterBundle that the account may not use are not read, nor are those that a Bundle names in other namespaces. */
function readableObjects(
  { kind, name }: Candidate,
  { namespace, bundles, clusterBundles, access }: InjectionFacts,
): readonly ObjectIdentity[] {
  if (kind === "ClusterBundle") {
    const found = access.get(name) === "allowed" ? clusterBundles.get(name) : undefined;
    return found === undefined ? [] : referencesOf(found).map(({ object }) => object);
  }
  const found = bundles.get(name);
  const objects = found === undefined ? [] : referencesOf(found).map(({ object }) => object);
  return objects.filter((object) => object.namespace === namespace);
}

async function keysOf(object: ObjectIdentity, isNeeded: boolean, { keys }: FactReaders): Promise<KeyFacts> {
  try {
    return await keys.keysOf(object, { isNeeded });
  } catch (error) {
    if (isNeeded) throw error;
    return { kind: "unknown" };
  }
}

/** So many reads of one pod are in progress at a time: bundles of one tenant must not crowd out the pods of others. */
const readsAtOnce = 16;

function byName<B extends Bundle | ClusterBundle>(bundles: readonly B[]): Map<string, B> {
  return new Map(bundles.map((bundle) => [bundle.metadata.name, bundle]));
}

function setIfFound<V>(map: Map<string, V>, name: string, value: V | undefined): void {
  if (value !== undefined) map.set(name, value);
}
