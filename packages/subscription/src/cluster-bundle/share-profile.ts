import { share, type Share } from "@quartermaster/api";
import {
  apiVersionOf,
  type Context,
  defineKind,
  type Desired,
  type InformerRequest,
  type Kind,
  type KubeObject,
  fieldOf,
  isKindServed,
  textOf,
} from "@quartermaster/runtime";

import type { ObjectIdentity, Purpose } from "../injection/injection-facts.ts";

/** Which API makes objects available in other namespaces. */
export type ShareProfile = "seed" | "sharedresource";

interface SharedSecret extends KubeObject {
  readonly spec?: { readonly secretRef?: { readonly name: string; readonly namespace: string } };
}

interface SharedConfigMap extends KubeObject {
  readonly spec?: { readonly configMapRef?: { readonly name: string; readonly namespace: string } };
}

const sharedResource = {
  group: "sharedresource.openshift.io",
  version: "v1alpha1",
  scope: "Cluster",
} as const;

/** OpenShift's share of a Secret. */
export const sharedSecrets: Kind<SharedSecret> = defineKind<SharedSecret>({
  ...sharedResource,
  kind: "SharedSecret",
  plural: "sharedsecrets",
});

/** OpenShift's share of a ConfigMap. */
export const sharedConfigMaps: Kind<SharedConfigMap> = defineKind<SharedConfigMap>({
  ...sharedResource,
  kind: "SharedConfigMap",
  plural: "sharedconfigmaps",
});

/** Every kind that a ClusterBundle may have made Shares of; the operator may have run with another profile before. */
export const shareKinds: readonly Kind[] = [share.kind, sharedSecrets, sharedConfigMaps];

/** Watched whole: an object of another client under our name has to be seen. */
export const shareSources: readonly InformerRequest[] = shareKinds.map((kind) => ({
  kind,
  keepManagedFields: true,
}));

/** The kind of Share that a profile uses for a purpose. */
export function shareKindOf(profile: ShareProfile, purpose: Purpose): Kind {
  if (profile === "seed") return share.kind;
  return purpose === "entitlement" ? sharedSecrets : sharedConfigMaps;
}

/** A Share as it should be. */
export function desiredShare(
  name: string,
  object: ObjectIdentity,
  profile: ShareProfile,
): Desired<KubeObject> {
  const { kind, namespace, name: target } = object;
  const metadata = { name };
  if (profile === "seed") {
    const backingResource: Share["spec"]["backingResource"] = {
      kind,
      apiVersion: "v1",
      name: target,
      namespace,
    };
    const wanted: Desired<Share> = { metadata, spec: { backingResource } };
    return wanted;
  }
  const ref = { name: target, namespace };
  const spec = kind === "Secret" ? { secretRef: ref } : { configMapRef: ref };
  const wanted: Desired<SharedSecret & SharedConfigMap> = { metadata, spec };
  return wanted;
}

/** The object that a live Share makes available; undefined when it cannot be read. */
export function sharedObjectOf(live: KubeObject): ObjectIdentity | undefined {
  const spec = fieldOf(live, "spec");
  const backing = fieldOf(spec, "backingResource");
  const kind = textOf(backing, "kind");
  if (kind === "Secret" || kind === "ConfigMap") return identityOf(kind, backing);
  return (
    identityOf("Secret", fieldOf(spec, "secretRef")) ?? identityOf("ConfigMap", fieldOf(spec, "configMapRef"))
  );
}

function identityOf(kind: ObjectIdentity["kind"], ref: unknown): ObjectIdentity | undefined {
  const name = textOf(ref, "name");
  const namespace = textOf(ref, "namespace");
  return name === undefined || namespace === undefined ? undefined : { kind, name, namespace };
}

/**
 * The profile whose API is served: the configured one, or else the platform's before ours. Undefined when there is none. Their
 * definitions are followed by name, so that installing one brings the bundles back.
 */
export function servedProfile(
  configured: ShareProfile | undefined,
  ctx: Pick<Context, "follow">,
): ShareProfile | undefined {
  const candidates: readonly ShareProfile[] =
    configured === undefined ? ["sharedresource", "seed"] : [configured];
  const served = candidates.map((profile) => ({ profile, isServed: isServed(profile, ctx) }));
  return served.find((each) => each.isServed)?.profile;
}

function isServed(profile: ShareProfile, ctx: Pick<Context, "follow">): boolean {
  const kinds = profile === "seed" ? [share.kind] : [sharedSecrets, sharedConfigMaps];
  // All of them, so that all are followed.
  return kinds.map((kind) => isKindServed(kind, ctx)).every(Boolean);
}

/** How a Share is named in messages. */
export function describeShare({ kind }: Kind, name: string): string {
  return `${kind} "${name}"`;
}

/** As `status.shares` names it. */
export function shareApiVersion(kind: Kind): string {
  return apiVersionOf(kind);
}
