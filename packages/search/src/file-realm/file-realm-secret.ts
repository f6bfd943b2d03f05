import type { Secret } from "@quartermaster/runtime/kinds";

import { clusterNames } from "../model/cluster-names.ts";
import type { SearchCluster } from "../model/search-cluster.ts";
import { encode } from "../secret-text.ts";
import { clusterLabels } from "../workload/cluster-labels.ts";

/** A user of the realm. */
export interface RealmUser {
  readonly name: string;
  /** bcrypt. */
  readonly hash: string;
  readonly role: "superuser" | "kibana_system" | "remote_monitoring_collector";
}

/** The files of the realm: who may log in, and with which role. */
export function fileRealmSecret(cluster: SearchCluster, users: readonly RealmUser[]): Secret {
  const sorted = users.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  const roles = [...new Set(sorted.map(({ role }) => role))].toSorted();
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      name: clusterNames(cluster).fileRealm,
      namespace: cluster.namespace,
      labels: clusterLabels(cluster),
    },
    type: "Opaque",
    data: encode({
      users: sorted.map(({ name, hash }) => `${name}:${asElasticsearch(hash)}\n`).join(""),
      users_roles: roles.map((role) => `${role}:${namesWith(sorted, role).join(",")}\n`).join(""),
    }),
  };
}

function namesWith(users: readonly RealmUser[], wanted: RealmUser["role"]): readonly string[] {
  return users.filter(({ role }) => role === wanted).map(({ name }) => name);
}

/** The same algorithm under the mark that Elasticsearch knows. */
function asElasticsearch(hash: string): string {
  return hash.replace(/^\$2b\$/, "$2a$$");
}
