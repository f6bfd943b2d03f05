import { dashboardsFields } from "./dashboards-fields.ts";
import { below, type FieldTable, type FieldVerdict, none, refused } from "./field-verdict.ts";
import { generalFields } from "./general-fields.ts";
import { monitoringFields, operatorFields } from "./operator-fields.ts";
import { poolFields } from "./pool-fields.ts";
import { securityFields } from "./security-fields.ts";

const shared: FieldTable = {
  ...operatorFields,
  ...below("general", generalFields),
  ...below("general.monitoring", monitoringFields),
  ...below("nodePools[]", poolFields),
  ...below("security", securityFields),
};

const noSecurityPlugin = "Elasticsearch has no such setting: users come from files and its API.";

/** What differs at Elasticsearch. */
const ofElasticsearch: FieldTable = {
  "general.grpc": refused("Elasticsearch has no gRPC transport: remove it."),
  "security.config.adminSecret.name": none("The operator logs in with an account of its own."),
  "security.config.operatorClientCert.name": none("The operator logs in with an account of its own."),
  "security.tls.http.adminDn": none(noSecurityPlugin),
  "security.tls.transport.adminDn": none(noSecurityPlugin),
  "security.tls.transport.nodesDn": none(noSecurityPlugin),
};

/** Verdict of every field of OpenSearchCluster (both groups) and ElasticsearchCluster, by path below `spec`. */
export const searchFields: Readonly<Record<"OpenSearchCluster" | "ElasticsearchCluster", FieldTable>> = {
  OpenSearchCluster: { ...shared, ...below("dashboards", dashboardsFields) },
  ElasticsearchCluster: { ...shared, ...ofElasticsearch, ...below("kibana", dashboardsFields) },
};

/** Kinds that the table describes. */
export type SearchKind = keyof typeof searchFields;

/** The verdict of a path: what a path above it says of everything below, else its own, or that of the closest path above it. */
export function verdictOf(kind: SearchKind, path: string): FieldVerdict | undefined {
  const table = searchFields[kind];
  const above = [...pathsAbove(path), path].flatMap((at) => table[at] ?? []);
  return above.find(({ verdict }) => verdict !== "effect") ?? above.at(-1);
}

/** Every path above one, the outermost first: that of a list, and that of the list's elements. */
export function pathsAbove(path: string): readonly string[] {
  return [...path.matchAll(/\.|\[\]/g)].flatMap(({ index, 0: mark }) =>
    mark === "." ? [path.slice(0, index)] : [path.slice(0, index), path.slice(0, index + 2)],
  );
}
