import { isJsonObject, printable } from "@quartermaster/runtime";

import { isCut } from "../bounded-data.ts";
import { parseYaml } from "../model/parse-yaml.ts";

/** Users and roles of the author's for the file realm of Elasticsearch. */
export interface RealmFiles {
  /** Hashes by user name. */
  readonly users: Readonly<Record<string, string>>;
  /** User names by role. */
  readonly roles: Readonly<Record<string, readonly string[]>>;
  /** Definitions of roles, as they are; empty where there are none. */
  readonly definitions: string;
  /** What cannot be read, with why; nothing of the files is used then. */
  readonly problems: readonly string[];
  /** The Secret that should hold them does not exist. */
  readonly isMissing?: true;
}

/** No files at all. */
export const NO_REALM_FILES: RealmFiles = { users: {}, roles: {}, definitions: "", problems: [] };

/** Names of users and roles: the files are lines with colons and commas between the parts. */
export const realmName = /^[A-Za-z0-9_.@-]{1,128}$/;

const hashText = /^[\u0021-\u0039\u003b-\u007e]{1,512}$/;

/** All files together: about a thousand users. */
const mostBytes = 256 * 1024;

type SecretData = Readonly<Record<string, string>>;

/** A Secret is the same object until it changes: its files are read once. */
const known = new WeakMap<SecretData, RealmFiles>();

/** Reads `users`, `users_roles` and `roles.yml` of a Secret, in the forms that Elasticsearch has for them. */
export function readRealmFiles(data: SecretData, ownUsers: ReadonlySet<string>): RealmFiles {
  const before = known.get(data);
  if (before !== undefined) return before;
  const read = filesIn(data, ownUsers);
  known.set(data, read);
  return read;
}

const names = ["users", "users_roles", "roles.yml"] as const;

function filesIn(data: SecretData, ownUsers: ReadonlySet<string>): RealmFiles {
  const bytes = names.reduce((sum, name) => sum + (data[name]?.length ?? 0), 0);
  if (bytes > (mostBytes * 4) / 3 || names.some((name) => isCut(data[name])))
    return problem("its files are larger than 256 KiB together and are not read: remove entries");
  const [users, roles, definitions] = names.map((name) => Buffer.from(data[name] ?? "", "base64").toString());
  const problems = [
    ...linesIn(users).flatMap((line) => userProblem(line, ownUsers)),
    ...linesIn(roles).flatMap(roleProblem),
    ...definitionProblem(definitions ?? ""),
  ];
  if (problems.length > 0) return { ...NO_REALM_FILES, problems };
  return {
    users: Object.fromEntries(linesIn(users).map(partsOf)),
    roles: Object.fromEntries(linesIn(roles).map((line) => rolesOf(line))),
    definitions: definitions ?? "",
    problems: [],
  };
}

function problem(text: string): RealmFiles {
  return { ...NO_REALM_FILES, problems: [text] };
}

function linesIn(text: string | undefined): readonly string[] {
  const lines = (text ?? "").split(/\r?\n/).map((line) => line.trim());
  return lines.filter((line) => line !== "" && !line.startsWith("#"));
}

function partsOf(line: string): readonly [string, string] {
  const at = line.indexOf(":");
  return at < 0 ? [line, ""] : [line.slice(0, at), line.slice(at + 1)];
}

function rolesOf(line: string): readonly [string, readonly string[]] {
  const [role, users] = partsOf(line);
  return [role, users.split(",").map((name) => name.trim())];
}

/** Never the line itself: it holds a hash. */
function userProblem(line: string, ownUsers: ReadonlySet<string>): readonly string[] {
  const [name, hash] = partsOf(line);
  if (!realmName.test(name))
    return [`users: ${printable(name.slice(0, 40))} is not a name of letters, digits and _ . @ -`];
  if (ownUsers.has(name)) return [`users: ${name} is an account of the operator's`];
  return hashText.test(hash) ? [] : [`users: the hash of ${name} cannot be read: write name:hash`];
}

function roleProblem(line: string): readonly string[] {
  const [role, users] = rolesOf(line);
  const wrong = [role, ...users].find((name) => !realmName.test(name));
  return wrong === undefined
    ? []
    : [`users_roles: ${printable(wrong.slice(0, 40))} is not a name: write role:user,user`];
}

function definitionProblem(text: string): readonly string[] {
  if (text.trim() === "") return [];
  const read = parseYaml(text, { schema: "core", maxAliasCount: 100 });
  if (read === undefined) return ["roles.yml: is not YAML, or has a key twice"];
  return read.value === null || isJsonObject(read.value) ? [] : ["roles.yml: is not a mapping"];
}
