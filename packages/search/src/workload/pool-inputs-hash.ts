import { digestOf } from "@quartermaster/runtime";

import type { NodePool, SearchCluster } from "../model/search-cluster.ts";
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
  const { security, image } = cluster;
  return digestOf({
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
  }).slice(0, 32);
}

/** New certificates are taken live; another place to read them from is not. */
function certificateSource({ isEnabled, isGenerated, secret }: SearchCluster["security"]["http"]): object {
  return { isEnabled, isGenerated, secret: isGenerated ? undefined : secret };
}
