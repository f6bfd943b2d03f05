import { posix } from "node:path";

import { printable } from "@quartermaster/runtime";

import { isRepositoryName } from "../engine/repository-api.ts";
import { readSettings } from "../model/read-settings.ts";
import type { RepositorySpec, SearchCluster, SpecIssue } from "../model/search-cluster.ts";
import { addressRefusal, objectStoreHosts } from "./address-refusal.ts";

export interface RepositoryPolicy {
  /** Hosts that engines may be led to by repositories (default: object stores, and none for type url). */
  readonly snapshotHosts?: readonly string[] | undefined;
}

/**
 * Snapshot repositories that must not be registered. A repository makes every node open files and connections of its author's choice:
 * files only below `path.repo`, connections only to hosts that the operator allows. Settings of the engine's clients go the same way.
 */
export function repositoryIssues(cluster: SearchCluster, policy: RepositoryPolicy): readonly SpecIssue[] {
  const directories = repositoryDirectories(cluster);
  return [
    ...cluster.repositories.flatMap((repository, at) => {
      const path = `spec.general.snapshotRepositories[${String(at)}]`;
      return [
        ...nameIssues(cluster.repositories, at, path),
        ...secretIssues(repository, path),
        ...fileIssues(repository, { path, directories }),
        ...addressIssues(repository, { path, policy }),
      ];
    }),
    ...clientIssues(cluster.config, "spec.general.additionalConfig", policy),
    ...cluster.pools.flatMap(({ config }, at) =>
      clientIssues(config, `spec.nodePools[${String(at)}].additionalConfig`, policy),
    ),
  ];
}

const invalid = (path: string, message: string): SpecIssue => ({ path, reason: "InvalidSpec", message });
const refused = (path: string, message: string): SpecIssue => ({
  path,
  reason: "RepositoryNotAllowed",
  message,
});

function nameIssues(all: readonly RepositorySpec[], at: number, path: string): readonly SpecIssue[] {
  const name = all[at]?.name ?? "";
  const isTwice = all.findIndex((each) => each.name === name) !== at;
  return [
    ...(isRepositoryName(name)
      ? []
      : [invalid(`${path}.name`, "must consist of letters, digits, dots, dashes and underscores")]),
    ...(isTwice ? [invalid(`${path}.name`, `${printable(name)} is declared twice`)] : []),
  ];
}

/** The engine keeps them in its state, where every user of its API may read them. */
function secretIssues({ settings }: RepositorySpec, path: string): readonly SpecIssue[] {
  return Object.keys(settings)
    .filter((key) =>
      /(?:^|[._])(?:access_key|secret_key|session_token|sas_token|password|credentials_file)$/.test(key),
    )
    .map((key) =>
      invalid(
        `${path}.settings.${printable(key)}`,
        "is a credential: put it into a Secret and name that in general.keystore",
      ),
    );
}

/** Directories that every node opens to snapshots. */
function repositoryDirectories({ config, pools }: SearchCluster): readonly string[] {
  const own = pools.map((pool) => directoriesIn(config, pool.config));
  return (own[0] ?? []).filter((directory) => own.every((directories) => directories.includes(directory)));
}

function directoriesIn(...configs: readonly Readonly<Record<string, string>>[]): readonly string[] {
  const value =
    configs
      .map((config) => readSettings(config).settings["path.repo"])
      .findLast((each) => each !== undefined) ?? [];
  const all = Array.isArray(value) ? value.map(String) : String(value).split(",");
  return all
    .map((directory) => posix.normalize(directory.trim()))
    .filter((directory) => posix.isAbsolute(directory));
}

function fileIssues(
  { type, settings }: RepositorySpec,
  { path, directories }: { readonly path: string; readonly directories: readonly string[] },
): readonly SpecIssue[] {
  if (type !== "fs") return [];
  const location = settings["location"];
  const at = `${path}.settings.location`;
  if (location === undefined || location === "")
    return [invalid(at, "is missing: write a directory below path.repo")];
  const [first] = directories;
  if (first === undefined)
    return [refused(at, "needs a directory that every node has: set path.repo in general.additionalConfig")];
  const full = posix.resolve(first, location);
  if (
    directories.some((directory) => full === directory || full.startsWith(`${directory.replace(/\/$/, "")}/`))
  )
    return [];
  return [
    refused(
      at,
      `is not below path.repo (${directories.map((directory) => printable(directory)).join(", ")})`,
    ),
  ];
}

/** Settings by whose name it is known that they hold an address. */
const addressKey = /(?:^|[._])(?:url|uri|endpoint|endpoint_suffix|host|token_uri)$/;

function addressIssues(
  { type, settings }: RepositorySpec,
  { path, policy: { snapshotHosts } }: { readonly path: string; readonly policy: RepositoryPolicy },
): readonly SpecIssue[] {
  const allowed = snapshotHosts ?? (type === "url" ? [] : objectStoreHosts);
  const isMissing = type === "url" && settings["url"] === undefined;
  return [
    ...(isMissing ? [invalid(`${path}.settings.url`, "is missing")] : []),
    ...Object.entries(settings).flatMap(([key, value]) => {
      const isAddress = addressKey.test(key) || value.includes("://");
      const why = isAddress && value !== "" ? addressRefusal(value, allowed) : undefined;
      return why === undefined ? [] : [refused(`${path}.settings.${printable(key)}`, why)];
    }),
    // It becomes a part of a host's name.
    ...(/^[A-Za-z0-9-]*$/.test(settings["region"] ?? "")
      ? []
      : [refused(`${path}.settings.region`, "must consist of letters, digits and dashes")]),
  ];
}

/** Settings of the clients that repositories use, e.g. `s3.client.default.endpoint`. */
const clientAddress = /^(?:s3|azure|gcs)\.client\..*(?:endpoint|endpoint_suffix|host|token_uri)$/;

function clientIssues(
  config: Readonly<Record<string, string>>,
  path: string,
  { snapshotHosts = objectStoreHosts }: RepositoryPolicy,
): readonly SpecIssue[] {
  return Object.entries(readSettings(config).settings).flatMap(([key, value]) => {
    const address = Array.isArray(value) ? value.join(",") : String(value);
    if (!clientAddress.test(key) || address === "") return [];
    // Azure puts the account in front: what is written is the end of a name.
    const full = key.endsWith("endpoint_suffix") ? `account.blob.${address}` : address;
    const why = addressRefusal(full, snapshotHosts);
    return why === undefined ? [] : [refused(`${path}.${printable(key)}`, why)];
  });
}
