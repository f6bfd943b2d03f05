import { isDeepStrictEqual } from "node:util";

import { firstTen } from "@quartermaster/api";
import { type Secret, secrets } from "@quartermaster/runtime/kinds";

import { awaits, type LaneRule, nothingToDo, refuses, type SearchLane } from "../lane.ts";
import { clusterNames } from "../model/cluster-names.ts";
import type { SearchCluster } from "../model/search-cluster.ts";
import { searchReasons } from "../reasons.ts";
import { applyAction, type SearchAction } from "../search-action.ts";
import { encode } from "../secret-text.ts";
import type { AccountFact, Login, Seen } from "../seen.ts";
import { clusterLabels } from "../workload/cluster-labels.ts";
import { ownRealmUsers } from "./own-realm-users.ts";
import { NO_REALM_FILES, realmName, type RealmFiles } from "./read-realm-files.ts";

/** An account that the realm is to have; `login` is undefined while its Secret lacks something. */
function accountsOf({ material, cluster }: Seen): readonly RealmAccount[] {
  const { adminPassword, fileRealm, dashboards, monitoring } = material;
  if (fileRealm === undefined) return [];
  const isOwn = dashboards !== undefined && cluster.dashboards?.credentialsSecret === undefined;
  return [
    { ...fileRealm.operator, role: "superuser" },
    { ...adminPassword, role: "superuser" },
    ...(isOwn ? [{ ...dashboards, role: "kibana_system" as const }] : []),
    ...(monitoring === undefined ? [] : [{ ...monitoring, role: "remote_monitoring_collector" as const }]),
  ];
}

type RealmAccount = AccountFact & Pick<RealmUser, "role">;

const notSecured: LaneRule = {
  name: "notSecured",
  decide: (seen) => (seen.material.fileRealm === undefined ? nothingToDo : undefined),
};

const awaitPasswords: LaneRule = {
  name: "awaitPasswords",
  decide: (seen) => {
    const missing = accountsOf(seen).filter(({ login }) => login === undefined);
    if (missing.length === 0) return undefined;
    return awaits(
      searchReasons.awaitingMaterial,
      `These Secrets lack username or password: ${missing.map(({ name }) => name).join(", ")}.`,
      { actor: seen.cluster.security.adminCredentialsSecret === undefined ? "operator" : "user" },
    );
  },
};

/** Without the files all clients in them would be locked out: they stay until they are there again, and until they can be read. */
const awaitFiles: LaneRule = {
  name: "awaitFiles",
  decide: ({ cluster, security: { realm } }) => {
    const name = cluster.security.securityConfigSecret ?? "";
    if (realm?.isMissing === true)
      return awaits(
        searchReasons.awaitingMaterial,
        `Secret ${name}, which spec.security.config.securityConfigSecret names, does not exist: users and roles stay as they are until you create it.`,
        { actor: "user" },
      );
    const problems = realm?.problems ?? [];
    return problems.length === 0
      ? undefined
      : refuses(
          searchReasons.securityRefused,
          `Secret ${name}: ${firstTen(problems, "; ")}. Nothing of it is applied.`,
        );
  },
};

const unusableLogin: LaneRule = {
  name: "unusableLogin",
  decide: ({ material: { adminPassword } }) => {
    const { username = "", password = "" } = adminPassword.login ?? {};
    const isUsable = realmName.test(username) && !ownRealmUsers.has(username) && password !== "";
    if (isUsable) return undefined;
    return refuses(
      searchReasons.securityRefused,
      `Secret ${adminPassword.name} has no usable account. The user name consists of at most 128 letters, digits and _ . @ -, and is none of the operator's own; the password is not empty.`,
    );
  },
};

/** A hash is made once per version of its Secret and written down before it is used: bcrypt gives another one each time. */
const hashPasswords: LaneRule = {
  name: "hashPasswords",
  decide: (seen) => {
    const actions = accountsOf(seen).flatMap(({ login, version: from }): readonly SearchAction[] =>
      login === undefined || hashOf(seen, login, from) !== undefined
        ? []
        : [{ kind: "hashPassword", ...login, from }],
    );
    if (actions.length === 0) return undefined;
    return awaits(searchReasons.awaitingMaterial, "Passwords are hashed.", { actor: "operator", actions });
  },
};

function hashOf({ security }: Seen, { username }: Login, version: string): string | undefined {
  const made = security.applied.hashes[username];
  return made?.from === version ? made.hash : undefined;
}

/** Never used, never overwritten: the certificates' lane says it too, and pods wait for it. */
const foreignFiles: LaneRule = {
  name: "foreignFiles",
  decide: ({ material: { fileRealm } }) =>
    fileRealm?.files.state === "foreign"
      ? refuses(
          searchReasons.secretConflict,
          `Secret ${fileRealm.files.name} was not made by the operator and is not used. Remove it.`,
        )
      : undefined,
};

/** Nodes read the files again on their own. */
const writeFiles: LaneRule = {
  name: "writeFiles",
  decide: (seen) => {
    const { cluster, material } = seen;
    const users = accountsOf(seen).flatMap(({ login, version, role }): readonly RealmUser[] => {
      const hash = login === undefined ? undefined : hashOf(seen, login, version);
      return login === undefined || hash === undefined ? [] : [{ name: login.username, hash, role }];
    });
    const secret = fileRealmSecret(cluster, users, seen.security.realm);
    const live = material.fileRealm?.files.live;
    if (live !== undefined && isDeepStrictEqual(live.data, secret.data)) return undefined;
    return awaits(searchReasons.awaitingMaterial, "The users are written.", {
      actor: "operator",
      actions: [applyAction(secrets, secret, cluster)],
    });
  },
};

/** Users of Elasticsearch: the operator's own and the administrator, in files that nodes read again when they change. */
export const fileRealmLane: SearchLane = {
  name: "security",
  rules: [
    notSecured,
    awaitPasswords,
    unusableLogin,
    awaitFiles,
    hashPasswords,
    foreignFiles,
    writeFiles,
    { name: "applied", decide: () => nothingToDo },
  ],
};

/** A user of the realm. */
export interface RealmUser {
  readonly name: string;
  /** bcrypt. */
  readonly hash: string;
  readonly role: "superuser" | "kibana_system" | "remote_monitoring_collector";
}

/** The files of the realm: who may log in, and with which role. Accounts of the operator and the administrator win over the author's. */
export function fileRealmSecret(
  cluster: SearchCluster,
  users: readonly RealmUser[],
  theirs: RealmFiles = NO_REALM_FILES,
): Secret {
  const own = Object.fromEntries(users.map(({ name, hash }) => [name, asElasticsearch(hash)]));
  const hashes = Object.entries({ ...theirs.users, ...own });
  const roles = [...new Set([...users.map(({ role }) => role), ...Object.keys(theirs.roles)])].toSorted();
  const members = (role: string): readonly string[] => [
    ...new Set([...namesWith(users, role), ...(theirs.roles[role] ?? [])]),
  ];
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
      users: hashes
        .map(([name, hash]) => `${name}:${hash}\n`)
        .toSorted()
        .join(""),
      users_roles: roles.map((role) => `${role}:${members(role).toSorted().join(",")}\n`).join(""),
      "roles.yml": theirs.definitions,
    }),
  };
}

function namesWith(users: readonly RealmUser[], wanted: string): readonly string[] {
  return users.filter(({ role }) => role === wanted).map(({ name }) => name);
}

/** The same algorithm under the prefix that Elasticsearch knows. */
function asElasticsearch(hash: string): string {
  return hash.replace(/^\$2b\$/, "$2a$$");
}
