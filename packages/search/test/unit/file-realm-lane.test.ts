import type { Live } from "@quartermaster/runtime";
import type { Secret } from "@quartermaster/runtime/kinds";
import { describe, expect, test } from "vitest";

import { fileRealmLane, fileRealmSecret } from "../../src/file-realm/file-realm-lane.ts";
import { decideLane } from "../../src/lane.ts";
import { NOTHING_APPLIED } from "../../src/security-content/observe-security.ts";
import type { AccountFact, Material, Seen } from "../../src/seen.ts";
import { anElasticsearch } from "../a-search-cluster.ts";
import { aMaterial, aSeen } from "../support/a-seen.ts";

const now = new Date(0);
const operator: AccountFact = {
  name: "logs-operator-password",
  state: "ours",
  live: undefined,
  login: { username: "quartermaster-operator", password: "long" },
  version: "o/1",
};
const files = { name: "logs-file-realm", state: "ours", live: undefined } as const;
const admin = aMaterial().adminPassword;
const hashes = {
  "quartermaster-operator": { from: "o/1", hash: "$2b$12$one" },
  admin: { from: "1/1", hash: "$2b$12$two" },
};

function seenWith(material: Partial<Material>, made: typeof NOTHING_APPLIED.hashes = hashes): Seen {
  return aSeen({
    cluster: anElasticsearch("7.17.28"),
    material: aMaterial({ fileRealm: { operator, files }, ...material }),
    security: {
      hasIndex: { isKnown: false, why: "not asked" },
      serving: new Set(),
      files: undefined,
      applied: { ...NOTHING_APPLIED, hashes: made },
    },
  });
}

const wanted = fileRealmSecret(anElasticsearch("7.17.28"), [
  { name: "quartermaster-operator", hash: "$2b$12$one", role: "superuser" },
  { name: "admin", hash: "$2b$12$two", role: "superuser" },
]);

function filesWith(data: Secret["data"]): Material["fileRealm"] {
  return { operator, files: { ...files, live: { ...wanted, data } as Live<Secret> } };
}

function named(username: string, password = "p"): Partial<Material> {
  return { adminPassword: { ...admin, login: { username, password } } };
}

test.for<[string, Seen, string, string, readonly string[]]>([
  ["security is off", seenWith({ fileRealm: undefined }), "notSecured", "settled", []],
  [
    "the administrator's Secret is not there",
    seenWith({ adminPassword: { ...admin, login: undefined } }),
    "awaitPasswords",
    "waiting",
    [],
  ],
  ["a name with a line break", seenWith(named("x\nroot:y")), "unusableLogin", "stalled", []],
  ["a name with a colon", seenWith(named("x:y")), "unusableLogin", "stalled", []],
  ["a name with a comma", seenWith(named("x,y")), "unusableLogin", "stalled", []],
  ["the operator's own name", seenWith(named("quartermaster-operator")), "unusableLogin", "stalled", []],
  ["no password", seenWith(named("admin", "")), "unusableLogin", "stalled", []],
  ["nothing is hashed yet", seenWith({}, {}), "hashPasswords", "waiting", ["hashPassword", "hashPassword"]],
  [
    "the administrator's password is a newer one",
    seenWith({ adminPassword: { ...admin, version: "1/2" } }),
    "hashPasswords",
    "waiting",
    ["hashPassword"],
  ],
  [
    "the files are not there yet",
    seenWith({ fileRealm: { operator, files: { ...files, state: "missing" } } }),
    "writeFiles",
    "waiting",
    ["apply"],
  ],
  [
    "another client else has the name",
    seenWith({ fileRealm: { operator, files: { ...files, state: "foreign" } } }),
    "foreignFiles",
    "stalled",
    [],
  ],
  [
    "the files say something else",
    seenWith({ fileRealm: filesWith({}) }),
    "writeFiles",
    "waiting",
    ["apply"],
  ],
  ["all is written", seenWith({ fileRealm: filesWith(wanted.data) }), "applied", "settled", []],
])("%s", ([, seen, rule, outcome, actions]) => {
  const decision = decideLane(fileRealmLane, seen, now);
  expect([decision.rule, decision.outcome.kind, decision.actions.map((action) => action.kind)]).toEqual([
    rule,
    outcome,
    actions,
  ]);
});

describe("the files", () => {
  test("have one line per user with a hash as Elasticsearch takes it, and each user a role", () => {
    const { data } = fileRealmSecret(anElasticsearch("7.17.28"), [
      { name: "b", hash: "$2b$12$two", role: "superuser" },
      { name: "k", hash: "$2b$12$three", role: "kibana_system" },
      { name: "a", hash: "$2a$12$one", role: "superuser" },
    ]);
    const text = (key: string): string => Buffer.from(data?.[key] ?? "", "base64").toString();
    expect(text("users")).toBe("a:$2a$12$one\nb:$2a$12$two\nk:$2a$12$three\n");
    expect(text("users_roles")).toBe("kibana_system:k\nsuperuser:a,b\n");
  });

  test("no message names a password", () => {
    const output = [seenWith(named("x:y", "canary")), seenWith({}, {})].map(
      (seen) => decideLane(fileRealmLane, seen, now).outcome,
    );
    expect(JSON.stringify(output)).not.toMatch(/canary|long/);
  });
});
