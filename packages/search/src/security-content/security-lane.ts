import { isDeepStrictEqual } from "node:util";

import { firstTen } from "@quartermaster/api";
import { digestOf, withoutFields } from "@quartermaster/runtime";
import { secrets } from "@quartermaster/runtime/kinds";

import type { SecurityEntityType } from "../engine/engine-client.ts";
import { awaits, type LaneRule, refuses, type SearchLane, nothingToDo } from "../lane.ts";
import { isPlainOpenSearch } from "../model/search-cluster.ts";
import { searchReasons } from "../reasons.ts";
import { applyAction, type SearchAction } from "../search-action.ts";
import type { AccountFact, Seen } from "../seen.ts";
import { securityFiles } from "./security-files.ts";
import { hasAuditIndex } from "./security-handlers.ts";
import { entitiesOf, entityKey, type OwnUser, wantedContent, type WantedEntity } from "./wanted-content.ts";

/** Without security there are no users. */
const notSecured: LaneRule = {
  name: "notSecured",
  decide: ({ cluster }) => (cluster.security.isEnabled ? undefined : nothingToDo),
};

/** Users that come from files are needed before the first pod; others only once there is an engine. */
const notFormed: LaneRule = {
  name: "notFormed",
  decide: ({ cluster, status }) =>
    status.clusterUuid === undefined && !isPlainOpenSearch(cluster) ? nothingToDo : undefined,
};

const writeFiles: LaneRule = {
  name: "writeFiles",
  decide: (seen) => {
    const { cluster, material, status } = seen;
    if (!isPlainOpenSearch(cluster)) return undefined;
    const secret = securityFiles(cluster, documentsOf(seen));
    const files = material.fileRealm?.files;
    if (isDeepStrictEqual(files?.live?.data, secret.data))
      return status.clusterUuid === undefined ? nothingToDo : undefined;
    return awaits(searchReasons.awaitingMaterial, "The files with the first users are written.", {
      actor: "operator",
      actions: files?.state === "foreign" ? [] : [applyAction(secrets, secret, cluster)],
    });
  },
};

/** Without the files everything that came from them would be deleted: it stays as it is until they are there again. */
const filesMissing: LaneRule = {
  name: "filesMissing",
  decide: ({ cluster, security: { files } }) => {
    // As it was read for this very decision: another watch may still show the Secret.
    if (files?.isMissing !== true) return undefined;
    const name = cluster.security.securityConfigSecret ?? "";
    return awaits(
      searchReasons.awaitingMaterial,
      `Secret ${name}, which spec.security.config.securityConfigSecret names, does not exist: users and roles stay as they are until you create it.`,
      { actor: "user" },
    );
  },
};

const unreadableFiles: LaneRule = {
  name: "unreadableFiles",
  decide: ({ security: { files }, cluster }) =>
    files === undefined || files.problems.length === 0
      ? undefined
      : refuses(
          searchReasons.securityRefused,
          `Secret ${cluster.security.securityConfigSecret ?? ""}: ${firstTen(files.problems, "; ")}. Nothing of it is applied.`,
        ),
};

/** The hash is made once per version of the Secret and written down before it is used: bcrypt gives another one each time. */
const hashPassword: LaneRule = {
  name: "hashPassword",
  decide: (seen) => {
    if (seen.material.adminPassword.login === undefined)
      return awaits(searchReasons.awaitingMaterial, "The password of the administrator is not there yet.", {
        actor: "user",
      });
    const actions = accountsOf(seen).flatMap((account): readonly SearchAction[] =>
      account.login === undefined || hashOf(seen, account) !== undefined
        ? []
        : [{ kind: "hashPassword", ...account.login, from: account.version }],
    );
    if (actions.length === 0) return undefined;
    return awaits(searchReasons.awaitingMaterial, "Passwords are hashed.", { actor: "operator", actions });
  },
};

function accountsOf({ material, cluster }: Seen): readonly AccountFact[] {
  const { adminPassword, dashboards } = material;
  const isOwn = dashboards !== undefined && cluster.dashboards?.credentialsSecret === undefined;
  return [
    adminPassword,
    ...(isOwn ? [dashboards] : []),
    ...(material.monitoring === undefined ? [] : [material.monitoring]),
    ...(material.fileRealm === undefined ? [] : [material.fileRealm.operator]),
  ];
}

function hashOf({ security }: Seen, { login, version }: AccountFact): string | undefined {
  const made = login === undefined ? undefined : security.applied.hashes[login.username];
  return made?.from === version ? made.hash : undefined;
}

/** Until every document is there: what was interrupted is continued. Only what is absent is made, and `perform` reads once more before. */
const initialise: LaneRule = {
  name: "initialise",
  decide: (seen) => {
    const { hasIndex } = seen.security;
    if (!hasIndex.isKnown)
      return awaits(
        searchReasons.unreachable,
        `Whether security is initialised is not known: ${hasIndex.why}.`,
        {
          actor: "engine",
          retryAfterMs: 5_000,
        },
      );
    if (hasIndex.value) return undefined;
    return awaits(searchReasons.awaitingMaterial, "Security is initialised.", {
      actor: "operator",
      retryAfterMs: 2_000,
      actions: [
        { kind: "initSecurity", documents: documentsOf(seen) },
        {
          kind: "record",
          event: {
            type: "Normal",
            reason: "SecurityInitialised",
            action: "InitialiseSecurity",
            note: "Users and roles were written; nodes serve once they have loaded them.",
          },
        },
      ],
    });
  },
};

function documentsOf(seen: Seen): ReturnType<typeof wantedContent> {
  const { adminPassword, dashboards, monitoring, fileRealm } = seen.material;
  const accounts = accountsOf(seen);
  const own = (account: AccountFact | undefined): OwnUser | undefined => {
    const hash = account === undefined || !accounts.includes(account) ? undefined : hashOf(seen, account);
    return hash === undefined ? undefined : { username: account?.login?.username ?? "", hash };
  };
  return wantedContent(seen.security.files, {
    admin: own(adminPassword) ?? { username: adminPassword.login?.username ?? "admin", hash: "" },
    dashboards: own(dashboards),
    monitoring: own(monitoring),
    operator: own(fileRealm?.operator),
  });
}

/** As the API takes them: only an administrator by certificate may say that something is reserved. */
function wantedEntities(seen: Seen): readonly WantedEntity[] {
  const entities = entitiesOf(documentsOf(seen));
  if (!isPlainOpenSearch(seen.cluster)) return entities;
  return entities.map((entity) => ({ ...entity, body: withoutFields(entity.body, new Set(["reserved"])) }));
}

/** After the first load, which takes the engine some seconds, entities can be written one by one. */
const awaitServing: LaneRule = {
  name: "awaitServing",
  decide: ({ security, pods }) => {
    if (security.serving.size > 0 || pods.length === 0) return undefined;
    return awaits(searchReasons.awaitingMaterial, "The nodes have not loaded users and roles yet.", {
      actor: "engine",
      retryAfterMs: 2_000,
    });
  },
};

/** Changes in our set since it was applied; other entities belong to others and stay. */
const mergeEntities: LaneRule = {
  name: "mergeEntities",
  decide: (seen) => {
    const wanted = wantedEntities(seen);
    const { applied } = seen.security;
    const changed = wanted.filter((entity) => applied.entities[entityKey(entity)] !== digestOf(entity.body));
    const dropped = Object.keys(applied.entities).filter(
      (key) => !wanted.some((entity) => entityKey(entity) === key),
    );
    if (changed.length === 0 && dropped.length === 0) return undefined;
    return awaits(
      searchReasons.awaitingMaterial,
      `Users and roles are brought up to date: ${[...changed.map(entityKey), ...dropped].slice(0, 10).join(", ")}.`,
      {
        actor: "operator",
        retryAfterMs: 1_000,
        actions: [
          ...(changed.length === 0 ? [] : [{ kind: "putEntities" as const, entities: changed }]),
          ...dropped.map(dropEntity),
        ],
      },
    );
  },
};

function dropEntity(key: string): SearchAction {
  const [type = "", ...name] = key.split("/");
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by `entityKey`
  return { kind: "deleteEntity", type: type as SecurityEntityType, name: name.join("/") };
}

/** One data node would stay yellow for ever: the plugin requests a replica that has no place. */
const fitAuditIndex: LaneRule = {
  name: "fitAuditIndex",
  decide: ({ cluster, security: { applied } }) =>
    !hasAuditIndex(cluster) || applied.isAuditFitted === true
      ? undefined
      : awaits(searchReasons.awaitingMaterial, "The index of the audit log fits its copies to the nodes.", {
          actor: "operator",
          retryAfterMs: 1_000,
          actions: [{ kind: "fitAuditIndex" }],
        }),
};

/** Users, roles and mappings: initialised without a Job, then merged entity by entity. */
export const securityLane: SearchLane = {
  name: "security",
  rules: [
    notSecured,
    notFormed,
    filesMissing,
    unreadableFiles,
    hashPassword,
    writeFiles,
    initialise,
    awaitServing,
    mergeEntities,
    fitAuditIndex,
    { name: "applied", decide: () => nothingToDo },
  ],
};
