import { isJsonObject, type JsonObject, withoutFields } from "@quartermaster/runtime";
import type { Secret } from "@quartermaster/runtime/kinds";

import type { SecurityDocuments } from "../engine/engine-client.ts";
import { clusterNames } from "../model/cluster-names.ts";
import type { SearchCluster } from "../model/search-cluster.ts";
import { encode } from "../secret-text.ts";
import { clusterLabels } from "../workload/cluster-labels.ts";

const fileNames: Readonly<Record<keyof SecurityDocuments, string>> = {
  config: "config.yml",
  internalusers: "internal_users.yml",
  roles: "roles.yml",
  rolesmapping: "roles_mapping.yml",
  actiongroups: "action_groups.yml",
  tenants: "tenants.yml",
};

/** Files for the first users and roles of nodes, under the plugin's own names. Nothing is reserved: the operator has to change it later. */
export function securityFiles(cluster: SearchCluster, documents: SecurityDocuments): Secret {
  const files = Object.entries(documents).map(([type, entries]): readonly [string, string] => [
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- keys of the documents
    fileNames[type as keyof SecurityDocuments],
    // JSON is YAML.
    `${JSON.stringify({ _meta: { type, config_version: 2 }, ...changeable(entries) })}\n`,
  ]);
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      name: clusterNames(cluster).securityFiles,
      namespace: cluster.namespace,
      labels: clusterLabels(cluster),
    },
    type: "Opaque",
    data: encode(Object.fromEntries(files)),
  };
}

function changeable(entries: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(entries).map(([name, entry]) => [
      name,
      isJsonObject(entry) ? withoutFields(entry, new Set(["reserved"])) : entry,
    ]),
  );
}
