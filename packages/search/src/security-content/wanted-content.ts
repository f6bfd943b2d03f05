import { digestOf, isJsonObject, type JsonObject, listOf } from "@quartermaster/runtime";

import type { SecurityDocuments, SecurityEntityType } from "../engine/engine-client.ts";
import { monitoringRole } from "../workload/monitoring-names.ts";
import type { ReadFiles } from "./observe-security.ts";

/** An account of ours, as the engine is to know it. */
export interface OwnUser {
  readonly username: string;
  /** bcrypt. */
  readonly hash: string;
}

/** One user, role, mapping, action group or tenant. */
export interface WantedEntity {
  readonly type: SecurityEntityType;
  readonly name: string;
  readonly body: JsonObject;
}

const basicAuth: JsonObject = {
  dynamic: {
    http: { anonymous_auth_enabled: false, xff: { enabled: false } },
    authc: {
      basic_internal_auth_domain: {
        description: "Users of this cluster",
        http_enabled: true,
        transport_enabled: true,
        order: 0,
        http_authenticator: { type: "basic", challenge: true },
        authentication_backend: { type: "intern" },
      },
    },
    authz: {},
  },
};

/**
 * Everything that the security plugin starts with: the author's files, and the administrator. No other user exists, and no one is let
 * in without a name.
 */
export function wantedContent(
  files: ReadFiles | undefined,
  { admin, dashboards, monitoring, operator }: OwnUsers,
): SecurityDocuments {
  const given = { ...nothingGiven, ...files?.documents };
  return {
    ...given,
    roles: { ...given.roles, ...(monitoring === undefined ? {} : { [monitoringRole]: readsMetrics }) },
    internalusers: {
      ...given.internalusers,
      ...(dashboards === undefined ? {} : { [dashboards.username]: dashboardsEntry(dashboards) }),
      ...(monitoring === undefined ? {} : { [monitoring.username]: monitoringEntry(monitoring) }),
      ...(operator === undefined ? {} : { [operator.username]: operatorEntry(operator) }),
      [admin.username]: adminEntry(given, admin),
    },
    rolesmapping: {
      ...given.rolesmapping,
      ...(dashboards === undefined ? {} : { kibana_server: dashboardsMapping(given, dashboards) }),
      ...(monitoring === undefined ? {} : { [monitoringRole]: { users: [monitoring.username] } }),
      all_access: withUser(adminMapping(given, admin), operator?.username),
    },
  };
}

/** Whom we make. */
export interface OwnUsers {
  readonly admin: OwnUser;
  /** User of Dashboards; undefined where there is none, or the author names another. */
  readonly dashboards: OwnUser | undefined;
  /** User of the exporter; undefined where there is none, or the author names another. */
  readonly monitoring?: OwnUser | undefined;
  /** Where no certificate can prove who the operator is. */
  readonly operator: OwnUser | undefined;
}

/** Reads alone, and of no document: metrics of the cluster, and which snapshots there are. */
const readsMetrics: JsonObject = {
  description: "Metrics for monitoring",
  cluster_permissions: ["cluster:monitor/*", "cluster:admin/repository/get", "cluster:admin/snapshot/get"],
};

function monitoringEntry({ hash }: OwnUser): JsonObject {
  return { reserved: true, description: "Exporter of metrics", hash };
}

function operatorEntry({ hash }: OwnUser): JsonObject {
  return { description: "The operator", hash };
}

function withUser(mapping: JsonObject, user: string | undefined): JsonObject {
  if (user === undefined) return mapping;
  return { ...mapping, users: [...listOf(mapping, "users").filter((each) => each !== user), user] };
}

function dashboardsEntry({ hash }: OwnUser): JsonObject {
  return { reserved: true, description: "OpenSearch Dashboards", hash };
}

/** Besides whom the author lets in. */
function dashboardsMapping({ rolesmapping }: SecurityDocuments, { username }: OwnUser): JsonObject {
  const given = rolesmapping["kibana_server"];
  return withUser(isJsonObject(given) ? given : { reserved: true }, username);
}

const nothingGiven: SecurityDocuments = {
  config: { config: basicAuth },
  roles: {},
  actiongroups: {},
  tenants: {},
  internalusers: {},
  rolesmapping: {},
};

function adminEntry({ internalusers }: SecurityDocuments, { username, hash }: OwnUser): JsonObject {
  const own = internalusers[username];
  return {
    backend_roles: ["admin"],
    description: "Administrator",
    ...(isJsonObject(own) ? own : {}),
    reserved: true,
    // The password is that of the Secret, whatever a file says.
    hash,
  };
}

function adminMapping({ rolesmapping }: SecurityDocuments, { username }: OwnUser): JsonObject {
  const mapping = rolesmapping["all_access"];
  return isJsonObject(mapping) ? mapping : { reserved: false, backend_roles: ["admin"], users: [username] };
}

const entityTypes: readonly SecurityEntityType[] = [
  // Roles before who is mapped to them.
  "actiongroups",
  "tenants",
  "roles",
  "internalusers",
  "rolesmapping",
];

/** The same, one by one, in an order in which nothing refers to what is not there yet. */
export function entitiesOf(documents: SecurityDocuments): readonly WantedEntity[] {
  return entityTypes.flatMap((type) =>
    Object.entries(documents[type]).flatMap(([name, body]) =>
      isJsonObject(body) ? [{ type, name, body }] : [],
    ),
  );
}

/** How an entity is known in the record of what was applied. */
export function entityKey({ type, name }: Pick<WantedEntity, "type" | "name">): string {
  return `${type}/${name}`;
}

export function digestsOf(entities: readonly WantedEntity[]): Readonly<Record<string, string>> {
  return Object.fromEntries(entities.map((entity) => [entityKey(entity), digestOf(entity.body)]));
}
