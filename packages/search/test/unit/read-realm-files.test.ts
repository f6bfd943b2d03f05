import { describe, expect, test } from "vitest";

import { fileRealmLane, fileRealmSecret } from "../../src/file-realm/file-realm-lane.ts";
import { NO_REALM_FILES, readRealmFiles, type RealmFiles } from "../../src/file-realm/read-realm-files.ts";
import { decideLane } from "../../src/lane.ts";
import { NOTHING_APPLIED } from "../../src/security-content/observe-security.ts";
import type { Seen } from "../../src/seen.ts";
import { anElasticsearch } from "../a-search-cluster.ts";
import { aMaterial, aSeen } from "../support/a-seen.ts";

const own: ReadonlySet<string> = new Set(["quartermaster-operator"]);

function read(files: Readonly<Record<string, string>>): RealmFiles {
  const data = Object.entries(files).map(([name, text]) => [name, Buffer.from(text).toString("base64")]);
  return readRealmFiles(Object.fromEntries(data) as Record<string, string>, own);
}

const hash = "$2a$12$abcdefghijklmnopqrstuv";

describe("[search/SC-126] files of users and roles for Elasticsearch", () => {
  test("have the forms of Elasticsearch; comments and empty lines are left out", () => {
    const files = {
      users: `# people\n\nanna:${hash}\nben:${hash}\r\n`,
      users_roles: "viewer:anna, ben\nsuperuser:anna\n",
      "roles.yml": "viewer:\n  cluster: [monitor]\n",
      "other.txt": "not read",
    };
    expect(read(files)).toEqual({
      users: { anna: hash, ben: hash },
      roles: { viewer: ["anna", "ben"], superuser: ["anna"] },
      definitions: files["roles.yml"],
      problems: [],
    });
  });

  test.for<[string, Readonly<Record<string, string>>, RegExp]>([
    ["a name with a colon to spare", { users: `an na:${hash}` }, /^users: an na is not a name/],
    ["a user without a hash", { users: "anna" }, /^users: the hash of anna cannot be read/],
    [
      "an account of the operator's",
      { users: `quartermaster-operator:${hash}` },
      /is an account of the operator's/,
    ],
    ["a role without a name", { users_roles: ":anna" }, /^users_roles: .*is not a name/],
    ["roles that are no YAML", { "roles.yml": "a: [" }, /^roles\.yml: is not YAML/],
    ["roles that are no mapping", { "roles.yml": "- a" }, /^roles\.yml: is not a mapping/],
    ["too much", { users: `anna:${hash}\n`.repeat(10_000) }, /larger than 256 KiB/],
  ])("%s: nothing is used, and no hash is told", ([, files, want]) => {
    const { problems, users } = read(files);
    expect(users).toEqual({});
    expect(problems[0]).toMatch(want);
    expect(problems.join("")).not.toContain(hash);
  });

  test("are merged with the operator's accounts, which win", () => {
    const secret = fileRealmSecret(
      anElasticsearch("8.17.0"),
      [{ name: "admin", hash: "$2b$12$two", role: "superuser" }],
      {
        users: { admin: "theirs", anna: hash },
        roles: { superuser: ["anna"], viewer: ["anna"] },
        definitions: "viewer: {}\n",
        problems: [],
      },
    );
    const text = (key: string): string => Buffer.from(secret.data?.[key] ?? "", "base64").toString();
    expect(text("users")).toBe(`admin:$2a$12$two\nanna:${hash}\n`);
    expect(text("users_roles")).toBe("superuser:admin,anna\nviewer:anna\n");
    expect(text("roles.yml")).toBe("viewer: {}\n");
  });

  test.for<[string, RealmFiles, string]>([
    ["the Secret is missing", { ...NO_REALM_FILES, isMissing: true }, "AwaitingMaterial"],
    ["a file cannot be read", { ...NO_REALM_FILES, problems: ["users: no"] }, "SecurityRefused"],
  ])("%s: users stay as they are, and the reason names what to do", ([, realm, want]) => {
    const base = anElasticsearch("8.17.0");
    const account = { ...aMaterial().adminPassword, state: "ours" as const };
    const seen: Seen = aSeen({
      cluster: { ...base, security: { ...base.security, securityConfigSecret: "people" } },
      material: aMaterial({
        fileRealm: {
          operator: {
            ...account,
            login: { username: "quartermaster-operator", password: "p" },
            version: "o/1",
          },
          files: { name: "logs-file-realm", state: "ours", live: undefined },
        },
      }),
      security: { ...aSeen().security, realm, applied: NOTHING_APPLIED },
    });
    const { outcome, actions } = decideLane(fileRealmLane, seen, new Date(0));
    expect(actions).toEqual([]);
    expect(outcome).toMatchObject({
      why: { reason: want, message: expect.stringContaining("people") as string },
    });
  });
});
