import type { ClusterBundle } from "@quartermaster/api";
import {
  type Context,
  defineKind,
  fieldOf,
  type InformerRequest,
  type Kind,
  type KubeObject,
  listOf,
  type Live,
  type ObjectRef,
  type ReadStore,
  textOf,
  type Why,
} from "@quartermaster/runtime";

import { bundleReasons, conditionTypes } from "../bundle-reasons.ts";

/** The part of a CSINode that is kept: the drivers that kubelet has registered. */
interface DriverNode extends KubeObject {
  readonly drivers: readonly string[];
}

const csiNodes: Kind<DriverNode> = defineKind<DriverNode>({
  group: "storage.k8s.io",
  version: "v1",
  kind: "CSINode",
  plural: "csinodes",
  scope: "Cluster",
});

const request: InformerRequest<DriverNode> = {
  kind: csiNodes,
  projection: {
    name: "drivers",
    project: (node: Live): DriverNode => {
      const { name, uid, resourceVersion } = node.metadata;
      const drivers = listOf(fieldOf(node, "spec"), "drivers").map((each) => textOf(each, "name") ?? "");
      return {
        apiVersion: node.apiVersion,
        kind: node.kind,
        metadata: { name, uid, resourceVersion },
        drivers,
      };
    },
  },
};

/**
 * Whether a node has the driver that mounts Shares. That the Share API is served says nothing about it: without a driver a pod would wait
 * for its volume without end. True where we may not see it, because then nothing is known.
 */
export async function isDriverRegistered(
  driver: string | undefined,
  ctx: Pick<Context, "track">,
): Promise<boolean> {
  if (driver === undefined) return true;
  const nodes = ctx.track(request);
  await nodes.firstResponse;
  if (nodes.isForbidden || !nodes.store.isSynced) return true;
  return nodes.store.list().some(({ drivers }) => drivers.includes(driver));
}

/** Bundles that wait for a driver come back when a node registers one. */
export function waitingForDriver(node: Live, bundles: ReadStore<ClusterBundle>): readonly ObjectRef[] {
  const drivers: unknown = fieldOf(node, "drivers");
  if (!Array.isArray(drivers) || drivers.length === 0) return [];
  return bundles
    .list()
    .filter(({ status }) =>
      status?.conditions?.some(
        ({ type, reason }) =>
          type === conditionTypes.driverUnavailable && reason === bundleReasons.driverNotRegistered,
      ),
    )
    .map(({ metadata: { name } }) => ({ name }));
}

export function driverMissing(driver: string): Why {
  return {
    reason: bundleReasons.driverNotRegistered,
    message: `No node has the CSI driver ${driver} registered, so that no pod can mount the bundle. Install the share driver: kubectl apply -f deploy/share-driver.yaml.`,
  };
}
