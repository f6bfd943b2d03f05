import type { JsonObject } from "@quartermaster/runtime";
import type { Deployment } from "@quartermaster/runtime/kinds";

import type { StackPart } from "../model/read-monitoring.ts";
import type { SearchCluster } from "../model/search-cluster.ts";
import { ownerAnnotations, ownerLabels } from "../owner-labels.ts";
import { monitoringLabels } from "../workload/monitoring-names.ts";

/** A Deployment of one pod. */
export interface PodRequest {
  readonly part: "exporter" | StackPart;
  readonly name: string;
  /** Uid that the image runs as. */
  readonly user: number;
  readonly pullSecrets: readonly string[];
  readonly volumes: readonly JsonObject[];
  /** Without its securityContext, which is the same for all. */
  readonly container: JsonObject;
  /** Of what it reads only when it starts. */
  readonly inputsHash?: string | undefined;
}

/** Metadata of an object that monitors the cluster. */
export function metadataOf(
  { namespace }: Pick<SearchCluster, "namespace">,
  name: string,
): { name: string; namespace: string; labels: Record<string, string> } {
  return { name, namespace, labels: { [ownerLabels.part]: "monitoring" } };
}

/** Its pod meets the restricted profile with a read-only root and has no token. */
export function podDeployment(cluster: SearchCluster, request: PodRequest): Deployment {
  const { part, name, user, pullSecrets, volumes, container, inputsHash } = request;
  const labels = monitoringLabels(cluster, part);
  const spec = {
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    securityContext: {
      runAsNonRoot: true,
      runAsUser: user,
      runAsGroup: user,
      fsGroup: user,
      seccompProfile: { type: "RuntimeDefault" },
    },
    ...(pullSecrets.length === 0 ? {} : { imagePullSecrets: pullSecrets.map((each) => ({ name: each })) }),
    containers: [
      {
        ...container,
        securityContext: {
          allowPrivilegeEscalation: false,
          capabilities: { drop: ["ALL"] },
          readOnlyRootFilesystem: true,
        },
      },
    ],
    volumes,
  };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: metadataOf(cluster, name),
    spec: {
      replicas: 1,
      // A second one would write to the same volume, or show every metric twice.
      strategy: { type: "Recreate" },
      selector: { matchLabels: labels },
      template: {
        metadata: {
          labels,
          ...(inputsHash === undefined ? {} : { annotations: { [ownerAnnotations.inputsHash]: inputsHash } }),
        },
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- ours is typed above; resources are the author's and pass through unread
        spec: spec as unknown as Deployment["spec"]["template"]["spec"],
      },
    },
  };
}
