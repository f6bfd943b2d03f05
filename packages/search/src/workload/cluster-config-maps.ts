import type { ConfigMap } from "@quartermaster/runtime/kinds";

import { podDialect } from "../distributions/distributions.ts";
import { clusterNames, poolNames } from "../model/cluster-names.ts";
import { ownerless } from "../model/object-metadata.ts";
import { encodeSettings } from "../model/read-settings.ts";
import type { SearchCluster } from "../model/search-cluster.ts";
import { clusterLabels, poolLabels } from "./cluster-labels.ts";
import { nodeSettings, sharedSettings } from "./node-settings.ts";
import { bootstrapKey } from "./prepare.ts";

/** The configuration of the cluster's nodes: what all pools have in common, for readers, and the whole file of each pool. */
export function clusterConfigMaps(cluster: SearchCluster): readonly ConfigMap[] {
  const { settingsFile } = podDialect(cluster);
  const file = (settings: Parameters<typeof encodeSettings>[0]): Readonly<Record<string, string>> => ({
    [settingsFile]: encodeSettings(settings),
  });
  return [
    configMap(
      cluster,
      { name: clusterNames(cluster).config, labels: clusterLabels(cluster) },
      file(sharedSettings(cluster)),
    ),
    ...cluster.pools.map((pool) =>
      configMap(
        cluster,
        {
          name: poolNames(cluster, pool).config,
          labels: { ...ownerless(pool.pod.labels), ...poolLabels(cluster, pool) },
        },
        file(nodeSettings(cluster, pool)),
      ),
    ),
  ];
}

/**
 * The names of the managers that found the cluster; empty once it is formed. A manager that starts with such a list and an empty disk
 * founds a second cluster, so the list must be empty for every pod that is born later.
 */
export function bootstrapConfigMap(cluster: SearchCluster, initialManagers: readonly string[]): ConfigMap {
  const { initialManagers: setting } = podDialect(cluster);
  const text = initialManagers.length === 0 ? "" : encodeSettings({ [setting]: initialManagers });
  const name = clusterNames(cluster).bootstrap;
  return configMap(cluster, { name, labels: clusterLabels(cluster) }, { [bootstrapKey]: text });
}

function configMap(
  { namespace }: SearchCluster,
  { name, labels }: { readonly name: string; readonly labels: Readonly<Record<string, string>> },
  data: Readonly<Record<string, string>>,
): ConfigMap {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace, labels }, data };
}
