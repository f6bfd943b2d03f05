import { describe, expect, test } from "vitest";

import type { EngineFacts } from "../../../src/engine/engine-facts.ts";
import { freshFacts, keepFacts, noFacts, projectionOf } from "../../../src/engine/engine-sample.ts";
import { engineFacts, known } from "../../support/a-seen.ts";

const health = {
  status: "green",
  nodes: 3,
  dataNodes: 3,
  activeShards: 4,
  relocatingShards: 0,
  initializingShards: 0,
  unassignedShards: 0,
  pendingTasks: 0,
} as const;
const node = { id: "a", name: "a", version: "1.0.0", roles: ["data"], isElected: false };
const coordination = { clusterUuid: "U", voters: ["a", "b"], exclusions: [], elected: "a" };
const shard = { index: "x", shard: 0, isPrimary: true, state: "STARTED", node: "a" } as const;
const identity = { node: "a", version: "1.0.0", clusterName: "c", clusterUuid: "U", hasVoters: true };
const license = { uid: "u", type: "gold", status: "active", expiryMs: 1, maxNodes: 3 } as const;
const load = {
  node: "a",
  shards: 1,
  documents: 1,
  storeBytes: 1,
  diskTotalBytes: 10,
  diskFreeBytes: 5,
  heapPercent: 1,
  cpuPercent: 1,
  searchQueue: 0,
  writeRejections: 0,
};
const index = { name: "x", replicas: 1, isAutoExpanded: false };
const repository = { name: "r", type: "fs", settings: { location: "/a" } };
const explanation = {
  index: "x",
  shard: 0,
  isPrimary: true,
  node: "a",
  nodes: [{ node: "b", deciders: ["disk"] }],
  text: "",
};
const served = { http: "f", transportEndMs: 1 };

/** Every fact, known. */
const facts: EngineFacts = {
  health: known(health),
  nodes: known([node]),
  coordination: known(coordination),
  shards: known([shard]),
  identities: new Map([["a", known(identity)]]),
  license: known(license),
  securityIndex: known(false),
  settings: known({ persistent: { a: "1" }, transient: { a: "1" } }),
  nodeLoad: known([load]),
  indices: known([index]),
  repositories: known([repository]),
  explanations: known([explanation]),
  served: new Map([["a", known(served)]]),
};

/** One value of one fact is another one. Every fact has rows: the type says which are missing. */
const changes: Readonly<Record<keyof EngineFacts, Readonly<Record<string, Partial<EngineFacts>>>>> = {
  health: {
    "the status": { health: known({ ...health, status: "red" }) },
    "the number of nodes": { health: known({ ...health, nodes: 2 }) },
    "the number of data nodes": { health: known({ ...health, dataNodes: 2 }) },
    "active shards": { health: known({ ...health, activeShards: 3 }) },
    "relocating shards": { health: known({ ...health, relocatingShards: 1 }) },
    "initializing shards": { health: known({ ...health, initializingShards: 1 }) },
    "unassigned shards": { health: known({ ...health, unassignedShards: 1 }) },
  },
  nodes: {
    "one more node": { nodes: known([node, { ...node, name: "b" }]) },
    "a node less": { nodes: known([]) },
    "the version of a node": { nodes: known([{ ...node, version: "2.0.0" }]) },
    "the elected node": { nodes: known([{ ...node, isElected: true }]) },
  },
  coordination: {
    "a voter less": { coordination: known({ ...coordination, voters: ["a"] }) },
    "an exclusion": { coordination: known({ ...coordination, exclusions: ["b"] }) },
    "the elected manager": { coordination: known({ ...coordination, elected: "b" }) },
    "the UUID": { coordination: known({ ...coordination, clusterUuid: "V" }) },
  },
  shards: {
    "a copy on another node": { shards: known([{ ...shard, node: "b" }]) },
    "the state of a copy": { shards: known([{ ...shard, state: "RELOCATING" }]) },
    "one more copy": { shards: known([shard, { ...shard, isPrimary: false, node: "b" }]) },
    "a copy that is not assigned": { shards: known([{ ...shard, state: "UNASSIGNED", node: undefined }]) },
  },
  identities: {
    "the UUID that a node reports": {
      identities: new Map([["a", known({ ...identity, clusterUuid: "V" })]]),
    },
    "a node that has no cluster any more": {
      identities: new Map([["a", known({ ...identity, clusterUuid: undefined })]]),
    },
    "a node whose founding is committed": {
      identities: new Map([["a", known({ ...identity, hasVoters: false })]]),
    },
    "one of two nodes": {
      identities: new Map([
        ["a", known(identity)],
        ["b", known({ ...identity, node: "b", clusterUuid: "V" })],
      ]),
    },
  },
  license: {
    "its uid": { license: known({ ...license, uid: "v" }) },
    "its type": { license: known({ ...license, type: "platinum" }) },
    "its status": { license: known({ ...license, status: "expired" }) },
    "its end": { license: known({ ...license, expiryMs: 2 }) },
  },
  securityIndex: { "that it is there": { securityIndex: known(true) } },
  settings: {
    "a persistent one": { settings: known({ persistent: { a: "2" }, transient: { a: "1" } }) },
    "a transient one beside a persistent one": {
      settings: known({ persistent: { a: "1" }, transient: { a: "2" } }),
    },
    "a transient one less": { settings: known({ persistent: { a: "1" }, transient: {} }) },
  },
  nodeLoad: {
    "shards on a node": { nodeLoad: known([{ ...load, shards: 0 }]) },
    "one more node": { nodeLoad: known([load, { ...load, node: "b" }]) },
  },
  indices: { "one more index": { indices: known([index, { ...index, name: "y" }]) } },
  repositories: {
    "a setting": { repositories: known([{ ...repository, settings: { location: "/b" } }]) },
    "a type": { repositories: known([{ ...repository, type: "url" }]) },
    "one less": { repositories: known([]) },
    "the second of two": { repositories: known([repository, { ...repository, name: "s" }]) },
  },
  explanations: {
    "a rule that says no": {
      explanations: known([{ ...explanation, nodes: [{ node: "b", deciders: [] }] }]),
    },
    "another shard": { explanations: known([{ ...explanation, shard: 1 }]) },
  },
  served: {
    "the certificate for clients": { served: new Map([["a", known({ ...served, http: "g" })]]) },
    "the certificate between nodes": { served: new Map([["a", known({ ...served, transportEndMs: 2 })]]) },
  },
};

const rows = Object.entries(changes).flatMap(([fact, list]) =>
  Object.entries(list).map(([name, change]) => ({ fact, name, change })),
);

describe("a sample brings a cluster back when", () => {
  test.each(rows)("$fact differs: $name", ({ change }) => {
    expect(projectionOf({ ...facts, ...change })).not.toBe(projectionOf(facts));
  });

  const single = Object.keys(facts).filter((fact) => fact !== "identities" && fact !== "served");

  test.each(single)("%s is not known any more, and why", (fact) => {
    const [unreachable, forbidden] = ["unreachable", "forbidden"].map((why) =>
      projectionOf({ ...facts, [fact]: { isKnown: false, why } }),
    );
    expect(new Set([projectionOf(facts), unreachable, forbidden]).size).toBe(3);
  });

  test.each(["identities", "served"])("%s of one node is not known any more", (fact) => {
    const unknown = new Map([["a", { isKnown: false, why: "unreachable" }]]);
    expect(projectionOf({ ...facts, [fact]: unknown })).not.toBe(projectionOf(facts));
  });

  test("and not for ages, pending tasks and the load of nodes", () => {
    const later: EngineFacts = {
      ...facts,
      health: { ...known({ ...health, pendingTasks: 9 }), atMs: 9 } as EngineFacts["health"],
      nodeLoad: known([{ ...load, documents: 2, heapPercent: 90, diskFreeBytes: 1 }]),
    };
    expect(projectionOf(later)).toBe(projectionOf(facts));
  });
});

describe("what was known before a sample that failed", () => {
  const failed = engineFacts(
    Object.fromEntries(
      Object.keys(noFacts).map((fact) => [
        fact,
        ["identities", "served"].includes(fact) ? new Map() : { isKnown: false, why: "unreachable" },
      ]),
    ),
  );
  /** What decides upon founding, putting, dropping and reloading is never remembered. */
  const never = ["identities", "repositories", "explanations", "served"];

  test.each(Object.keys(facts))("%s", (fact) => {
    const kept = keepFacts(failed, facts, 0)[fact as keyof EngineFacts];
    expect(kept).toEqual(
      never.includes(fact) ? failed[fact as keyof EngineFacts] : facts[fact as keyof EngineFacts],
    );
  });

  test.each(["licenseExpired", "forbidden"])("is not held against an engine that responds with %s", (why) => {
    const now = engineFacts({ health: { isKnown: false, why } });
    expect(keepFacts(now, facts, 0).health).toEqual({ isKnown: false, why });
  });

  test("holds up to the oldest moment that counts, and not before it", () => {
    const [at, after] = [0, 1].map((oldestMs) => keepFacts(failed, facts, oldestMs).nodes.isKnown);
    expect([at, after]).toEqual([true, false]);
  });

  test.each(Object.keys(facts))("is unknown once it is too old: %s", (fact) => {
    const isKnown = (oldestMs: number): boolean => {
      const value = freshFacts(facts, oldestMs)[fact as keyof EngineFacts];
      return value instanceof Map
        ? [...value.values()].every((each: { isKnown: boolean }) => each.isKnown)
        : (value as { isKnown: boolean }).isKnown;
    };
    expect([isKnown(0), isKnown(1)]).toEqual([true, false]);
  });
});
