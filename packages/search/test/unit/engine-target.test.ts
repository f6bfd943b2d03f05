import { expect, test } from "vitest";

import { engineTarget } from "../../src/engine-sampling.ts";
import type { SearchCluster } from "../../src/model/search-cluster.ts";
import type { AccountFact, Material } from "../../src/seen.ts";
import { anElasticsearch, aSearchCluster } from "../a-search-cluster.ts";
import { aMaterial, aPod } from "../support/a-seen.ts";

const login = { username: "quartermaster-operator", password: "p" };
const operator: AccountFact = { name: "o", state: "ours", live: undefined, login, version: "1" };
const files = { name: "f", state: "ours", live: undefined } as const;
const { certificates, ca } = aMaterial();
const elasticsearch: Partial<Material> = {
  fileRealm: { operator, files },
  certificates: new Map([...certificates].filter(([certificate]) => certificate !== "admin")),
};
const es = anElasticsearch("7.17.28");

test.for<[string, SearchCluster, Partial<Material>, object | undefined]>([
  [
    "OpenSearch is asked with the administrator's certificate",
    aSearchCluster(),
    {},
    { login: undefined, tls: { client: { certificatePem: "certificate" }, serverName: "logs.team.svc" } },
  ],
  [
    "Elasticsearch is asked with the operator's account",
    es,
    elasticsearch,
    { login, tls: { client: undefined, serverName: "logs.team.svc" } },
  ],
  [
    "no one asks Elasticsearch before there is an account",
    es,
    { ...elasticsearch, fileRealm: { operator: { ...operator, login: undefined }, files } },
    undefined,
  ],
  ["no one asks without an authority", es, { ...elasticsearch, ca: { ...ca, pair: undefined } }, undefined],
])("%s", ([, cluster, material, expected]) => {
  const target = engineTarget(cluster, aMaterial(material), [aPod("logs-nodes-0")]);
  expect(target === undefined ? [] : [target]).toMatchObject(expected === undefined ? [] : [expected]);
});

test("[security/59] only addresses of the cluster's own pods are dialled, and only under its Service's name", () => {
  const general = { ...es, name: "logs", namespace: "team" };
  const target = engineTarget(general, aMaterial(elasticsearch), [aPod("logs-nodes-0", { ip: "10.1.2.3" })]);
  expect(target?.endpoints).toEqual([{ node: "logs-nodes-0", host: "10.1.2.3", port: 9200 }]);
  expect(target?.tls?.serverName).toBe("logs.team.svc");
});

test("pods without an address and pods that end are not asked", () => {
  const pods = [aPod("a", { ip: undefined }), aPod("b", { isTerminating: true })];
  expect(engineTarget(aSearchCluster(), aMaterial(), pods)).toBeUndefined();
});
