import { digestOf, fieldOf, type Live, textOf } from "@quartermaster/runtime";
import type { StatefulSet } from "@quartermaster/runtime/kinds";

import type { NodePool, SearchCluster } from "../model/search-cluster.ts";
import { ownerAnnotations } from "../owner-labels.ts";
import { mergeSettings } from "./merge-settings.ts";

/** Contents that are not in the spec, as digests. */
export interface FollowedInputs {
  /** Of the Secrets that the keystore is filled from, by name. */
  readonly keystore: Readonly<Record<string, string>>;
  /** Of the Secrets and ConfigMaps behind volumes that say `restartPods`, by name of the volume. */
  readonly volumes: Readonly<Record<string, string>>;
}

/**
 * A hash of all that the author decided and that takes effect only at a restart. How we render it is no part: a new operator must not
 * restart anybody's nodes.
 */
export function poolInputsHash(cluster: SearchCluster, pool: NodePool, followed: FollowedInputs): string {
  const late = lateInputs(cluster, pool);
  return hashOf({
    ...inputsOf(cluster, pool, followed),
    ...(Object.keys(late).length === 0 ? {} : { late }),
  });
}

/** Inputs of a pool's pods as they count now. */
export interface AcceptedInputs {
  readonly inputsHash: string;
  /** Digest of the late inputs that the pods do without; undefined where they have all. */
  readonly lateInputs?: string | undefined;
}

/**
 * The inputs by which pods are outdated or not. Operators before this one knew fewer fields: a StatefulSet whose pods were started by
 * their formula keeps its hash until the author changes something. What such pods do without is recorded when it is first seen, so
 * that an edit of it is one.
 */
export function acceptedInputs(
  cluster: SearchCluster,
  pool: NodePool,
  { followed, set }: { readonly followed: FollowedInputs; readonly set: StampedSet | undefined },
): AcceptedInputs {
  const next = poolInputsHash(cluster, pool, followed);
  const stamped = annotationOf(fieldOf(set?.spec, "template"), ownerAnnotations.inputsHash);
  if (stamped === undefined || stamped === next) return { inputsHash: next };
  if (stamped !== olderInputsHash(cluster, pool, followed)) return { inputsHash: next };
  const late = digestOf(lateInputs(cluster, pool)).slice(0, 32);
  const recorded = annotationOf(set, ownerAnnotations.lateInputs);
  return recorded === undefined || recorded === late
    ? { inputsHash: stamped, lateInputs: late }
    : { inputsHash: next };
}

function annotationOf(object: unknown, key: string): string | undefined {
  return textOf(fieldOf(fieldOf(object, "metadata"), "annotations"), key);
}

/** A StatefulSet, as far as its stamps go. */
export type StampedSet = Pick<Live<StatefulSet>, "metadata" | "spec">;

/** Fields that operators before this one accepted and did not act on, by their paths; those that are set. */
export function lateInputs(cluster: SearchCluster, pool: NodePool): Readonly<Record<string, unknown>> {
  const { grpc, helper, nodeAttributes = [] } = cluster;
  const all = {
    "spec.general.grpc": grpc,
    "spec.general.nodeAttributes": nodeAttributes.length === 0 ? undefined : nodeAttributes,
    "spec.initHelper": helper,
    [`spec.nodePools[${pool.name}].image`]: pool.image,
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

/** The formula of operators that put the annotations of `general` onto pods. */
function olderInputsHash(cluster: SearchCluster, pool: NodePool, followed: FollowedInputs): string {
  const { annotations } = cluster.pod;
  const pod = { ...cluster.pod, annotations: { ...cluster.serviceAnnotations, ...annotations } };
  return hashOf(inputsOf({ ...cluster, pod }, pool, followed));
}

function hashOf(inputs: object): string {
  return digestOf(inputs).slice(0, 32);
}

function inputsOf(cluster: SearchCluster, pool: NodePool, followed: FollowedInputs): object {
  const { security, image } = cluster;
  return {
    version: cluster.version,
    image: image.name,
    home: cluster.home,
    httpPort: cluster.httpPort,
    config: { ...cluster.config, ...pool.config },
    plugins: cluster.plugins,
    keystore: cluster.keystore,
    security: {
      isEnabled: security.isEnabled,
      transport: certificateSource(security.transport),
      http: certificateSource(security.http),
      adminDns: security.adminDns,
      nodeDns: security.nodeDns,
    },
    roles: pool.roles,
    jvm: pool.jvm,
    resources: pool.resources,
    storage: pool.storage.kind,
    pod: mergeSettings(cluster.pod, pool.pod),
    restart: cluster.requests.restart,
    ...(cluster.requests.restartPools[pool.name] === undefined
      ? {}
      : { restartPool: cluster.requests.restartPools[pool.name] }),
    followed,
  };
}

/** New certificates are taken live; another place to read them from is not. */
function certificateSource({ isEnabled, isGenerated, secret }: SearchCluster["security"]["http"]): object {
  return { isEnabled, isGenerated, secret: isGenerated ? undefined : secret };
}
