import type { Live } from "@quartermaster/runtime";
import type { Secret } from "@quartermaster/runtime/kinds";
import { describe, expect, test } from "vitest";

import { podDialect } from "../../src/distributions/distributions.ts";
import { decideLane } from "../../src/lane.ts";
import { NOTHING_APPLIED } from "../../src/security-content/observe-security.ts";
import { securityFiles } from "../../src/security-content/security-files.ts";
import { securityLane } from "../../src/security-content/security-lane.ts";
import { wantedContent } from "../../src/security-content/wanted-content.ts";
import type { AccountFact, Material, Seen } from "../../src/seen.ts";
import { poolStatefulSet } from "../../src/workload/pool-stateful-set.ts";
import { aDashboards, aPool, aSearchCluster } from "../a-search-cluster.ts";
import { aMaterial, aPod, aSeen, known } from "../support/a-seen.ts";

const now = new Date(0);
const secured = aSearchCluster();
const { security } = secured;
const plain = aSearchCluster({ security: { ...security, http: { ...security.http, isEnabled: false } } });
const formed = { clusterUuid: "u" };
const account = (username: string): AccountFact => ({
  name: `logs-${username}`,
  state: "ours",
  live: undefined,
  login: { username, password: "p" },
  version: "1/1",
});
const operator = account("quartermaster-operator");
const dashboards = account("quartermaster-dashboards");
const hash = (name: string): { readonly from: string; readonly hash: string } => ({
  from: "1/1",
  hash: `hash of ${name}`,
});
const hashes = {
  admin: hash("admin"),
  "quartermaster-operator": hash("operator"),
  "quartermaster-dashboards": hash("dashboards"),
};
const written = securityFiles(
  plain,
  wantedContent(undefined, {
    admin: { username: "admin", hash: "hash of admin" },
    dashboards: undefined,
    operator: { username: "quartermaster-operator", hash: "hash of operator" },
  }),
);

function realm(data: Secret["data"] | undefined): Partial<Material> {
  const live = data === undefined ? undefined : ({ ...written, data } as Live<Secret>);
  const state = live === undefined ? "missing" : "ours";
  return { fileRealm: { operator, files: { name: "logs-security-files", state, live } } };
}

function seenWith(changes: Partial<Seen>, made: typeof NOTHING_APPLIED.hashes = hashes): Seen {
  return aSeen({
    pods: [aPod("logs-nodes-0")],
    ...changes,
    security: {
      hasIndex: known(true),
      serving: new Set(["logs-nodes-0"]),
      files: undefined,
      applied: { ...NOTHING_APPLIED, hashes: made },
    },
  });
}

test.for<[string, Seen, string, readonly string[]]>([
  ["a cluster that has not formed", seenWith({}), "notFormed", []],
  ["passwords without hashes", seenWith({ status: formed }, {}), "hashPassword", ["admin"]],
  [
    "a password of Dashboards without hash",
    seenWith(
      {
        status: formed,
        cluster: aSearchCluster({ dashboards: aDashboards() }),
        material: aMaterial({ dashboards }),
      },
      { admin: hash("admin") },
    ),
    "hashPassword",
    ["quartermaster-dashboards"],
  ],
  [
    "Dashboards with a login of the author's",
    seenWith(
      {
        status: formed,
        cluster: aSearchCluster({ dashboards: aDashboards({ credentialsSecret: "theirs" }) }),
        material: aMaterial({ dashboards }),
      },
      { admin: hash("admin") },
    ),
    "mergeEntities",
    ["internalusers/admin", "rolesmapping/all_access"],
  ],
  [
    "Dashboards",
    seenWith({
      status: formed,
      cluster: aSearchCluster({ dashboards: aDashboards() }),
      material: aMaterial({ dashboards }),
    }),
    "mergeEntities",
    [
      "internalusers/quartermaster-dashboards",
      "internalusers/admin",
      "rolesmapping/kibana_server",
      "rolesmapping/all_access",
    ],
  ],
  [
    "no TLS for clients, nothing hashed",
    seenWith({ cluster: plain, material: aMaterial(realm(undefined)) }, {}),
    "hashPassword",
    ["admin", "quartermaster-operator"],
  ],
  [
    "no TLS for clients, no files",
    seenWith({ cluster: plain, material: aMaterial(realm(undefined)) }),
    "writeFiles",
    ["logs-security-files"],
  ],
  [
    "no TLS for clients, files",
    seenWith({ cluster: plain, material: aMaterial(realm(written.data)) }),
    "writeFiles",
    [],
  ],
  [
    "no TLS for clients, formed",
    seenWith({ cluster: plain, status: formed, material: aMaterial(realm(written.data)) }),
    "mergeEntities",
    ["internalusers/quartermaster-operator", "internalusers/admin", "rolesmapping/all_access"],
  ],
])("%s", ([, seen, rule, expected]) => {
  const decision = decideLane(securityLane, seen, now);
  const output = decision.actions.flatMap((action) => {
    if (action.kind === "putEntities") return action.entities.map(({ type, name }) => `${type}/${name}`);
    if (action.kind === "apply") return action.object.metadata.name;
    return action.kind === "hashPassword" ? action.username : action.kind;
  });
  expect([decision.rule, output]).toEqual([rule, expected]);
});

describe("without TLS for clients", () => {
  test("nothing is reserved, because only an administrator by certificate could change it", () => {
    const seen = seenWith({ cluster: plain, status: formed, material: aMaterial(realm(written.data)) });
    expect(JSON.stringify(decideLane(securityLane, seen, now).actions)).not.toContain("reserved");
    const texts = Object.values(written.data ?? {}).map((text) => Buffer.from(text, "base64").toString());
    expect(texts).toHaveLength(6);
    expect(texts.join("")).not.toContain("reserved");
  });

  test("nodes may make the first users, from our files and not from the image's", () => {
    const setting = "plugins.security.allow_default_init_securityindex";
    expect(podDialect(plain).securitySettings(plain)[setting]).toBe(true);
    expect(podDialect(secured).securitySettings(secured)[setting]).toBe(false);
    const { spec } = poolStatefulSet(plain, aPool(), { inputsHash: "h" }).spec.template;
    expect(spec.containers[0]?.volumeMounts).toContainEqual({
      name: "security-files",
      mountPath: "/usr/share/opensearch/config/opensearch-security",
      readOnly: true,
    });
  });
});
