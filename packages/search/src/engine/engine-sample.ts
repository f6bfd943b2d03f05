import { canonicalJson, digestOf } from "@quartermaster/runtime";

import type { EngineClient } from "./engine-client.ts";
import { EngineError, type EngineErrorCode } from "./engine-error.ts";
import type { EngineFacts, Fact, ServedCertificates } from "./engine-facts.ts";
import { explainCopies } from "./explain-copies.ts";

export type SampledFact =
  | "nodes"
  | "coordination"
  | "shards"
  | "identities"
  | "license"
  | "securityIndex"
  | "settings"
  | "nodeLoad"
  | "indices"
  | "repositories"
  | "explanations"
  | "served";

export interface SampleRequest {
  readonly facts: ReadonlySet<SampledFact>;
  /** Nodes that are queried about themselves. */
  readonly nodes: readonly string[];
  readonly nowMs: () => number;
}

const notQueried = { isKnown: false, why: "not asked" } as const;

/** The facts before the first sample. */
export const noFacts: EngineFacts = {
  health: { isKnown: false, why: "not sampled yet" },
  nodes: notQueried,
  coordination: notQueried,
  shards: notQueried,
  identities: new Map(),
  license: notQueried,
  securityIndex: notQueried,
  settings: notQueried,
  nodeLoad: notQueried,
  indices: notQueried,
  repositories: notQueried,
  explanations: notQueried,
  served: new Map(),
};

/** Queries an engine. Never rejects for an engine's error: that is an unknown fact. */
export async function engineSample(client: EngineClient, request: SampleRequest): Promise<EngineFacts> {
  const { facts: required, nodes, nowMs } = request;
  const fact = async <T>(query: () => Promise<T>): Promise<Fact<T>> => await factOf(query, nowMs);
  const wanted = async <T>(name: SampledFact, query: () => Promise<T>): Promise<Fact<T>> =>
    required.has(name) ? await fact(query) : notQueried;
  const health = await fact(async () => await client.health());
  const ofEach = async <T>(
    name: SampledFact,
    query: (node: string) => Promise<T>,
  ): Promise<ReadonlyMap<string, Fact<T>>> => {
    const requested = required.has(name) ? nodes : [];
    return new Map(
      await Promise.all(
        requested.map(async (node) => [node, await fact(async () => await query(node))] as const),
      ),
    );
  };
  const shards = await wanted("shards", async () => await client.shards());
  const settings = await wanted("settings", async () => await client.settings());
  return {
    health,
    nodes: await wanted("nodes", async () => await client.nodes()),
    coordination: await wanted("coordination", async () => await client.coordination()),
    shards,
    identities: await ofEach("identities", async (node) => await client.identity(node)),
    license: await wanted("license", async () => await client.license()),
    securityIndex: await wanted("securityIndex", async () => await client.hasSecurityIndex()),
    settings,
    explanations: await wanted(
      "explanations",
      async () => await explainCopies(client, { health, shards, settings }),
    ),
    nodeLoad: await wanted("nodeLoad", async () => await client.nodeLoad()),
    indices: await wanted("indices", async () => await client.indices()),
    repositories: await wanted("repositories", async () => await client.repositories()),
    served: await ofEach("served", async (node) => await servedBy(client, node)),
  };
}

async function servedBy(client: EngineClient, node: string): Promise<ServedCertificates> {
  const { fingerprint } = await client.servedCertificate(node);
  return { http: fingerprint, transportEndMs: await transportEndMs(client, node) };
}

/** Responses of an engine without such an API, or not for us: a retry would not help. */
const noSuchApi: ReadonlySet<string> = new Set([
  "notFound",
  "forbidden",
  "invalid",
  "unsupported",
] satisfies EngineErrorCode[]);

async function transportEndMs(client: EngineClient, node: string): Promise<number | undefined> {
  try {
    return await client.transportCertificateEndMs(node);
  } catch (error) {
    if (error instanceof EngineError && noSuchApi.has(error.code)) return undefined;
    throw error;
  }
}

async function factOf<T>(query: () => Promise<T>, nowMs: () => number): Promise<Fact<T>> {
  try {
    const value = await query();
    return { isKnown: true, value, atMs: nowMs() };
  } catch (error) {
    if (error instanceof EngineError) return { isKnown: false, why: error.code };
    throw error;
  }
}

/** Failures in which the engine did respond: earlier facts are no longer valid. */
const responses: ReadonlySet<string> = new Set(["licenseExpired", "forbidden"] satisfies EngineErrorCode[]);

/** The new facts, and for each that is unknown now the old one, as long as that is not too old. */
export function keepFacts(now: EngineFacts, before: EngineFacts, oldestMs: number): EngineFacts {
  const kept = <T>(fact: Fact<T>, old: Fact<T>): Fact<T> => {
    if (fact.isKnown || fact.why === notQueried.why || responses.has(fact.why)) return fact;
    return old.isKnown && old.atMs >= oldestMs ? old : fact;
  };
  return {
    health: kept(now.health, before.health),
    nodes: kept(now.nodes, before.nodes),
    coordination: kept(now.coordination, before.coordination),
    shards: kept(now.shards, before.shards),
    // What a node says of itself decides upon founding: never from memory.
    identities: now.identities,
    license: kept(now.license, before.license),
    securityIndex: kept(now.securityIndex, before.securityIndex),
    settings: kept(now.settings, before.settings),
    nodeLoad: kept(now.nodeLoad, before.nodeLoad),
    indices: kept(now.indices, before.indices),
    // What is put or dropped is decided by what the engine says now.
    repositories: now.repositories,
    // Nor by reasons that may have passed.
    explanations: now.explanations,
    // Nor is a reload taken for done by what was served before.
    served: now.served,
  };
}

/** The new facts, and the old ones of those whose turn it was not. How old they are counts when they are read. */
export function keepTurns(
  now: EngineFacts,
  before: EngineFacts,
  turns: ReadonlySet<SampledFact>,
): EngineFacts {
  const waits = (name: "nodeLoad" | "indices" | "settings" | "repositories"): boolean =>
    turns.has(name) && !now[name].isKnown && now[name].why === notQueried.why;
  return {
    ...now,
    ...(waits("nodeLoad") ? { nodeLoad: before.nodeLoad } : {}),
    ...(waits("indices") ? { indices: before.indices } : {}),
    ...(waits("settings") ? { settings: before.settings } : {}),
    ...(waits("repositories") ? { repositories: before.repositories } : {}),
  };
}

/** The facts with those that are too old taken for unknown. */
export function freshFacts(facts: EngineFacts, oldestMs: number): EngineFacts {
  const fresh = <T>(fact: Fact<T>): Fact<T> =>
    fact.isKnown && fact.atMs < oldestMs ? { isKnown: false, why: "too old" } : fact;
  return {
    health: fresh(facts.health),
    nodes: fresh(facts.nodes),
    coordination: fresh(facts.coordination),
    shards: fresh(facts.shards),
    identities: new Map([...facts.identities].map(([node, fact]) => [node, fresh(fact)])),
    license: fresh(facts.license),
    securityIndex: fresh(facts.securityIndex),
    settings: fresh(facts.settings),
    nodeLoad: fresh(facts.nodeLoad),
    indices: fresh(facts.indices),
    repositories: fresh(facts.repositories),
    explanations: fresh(facts.explanations),
    served: new Map([...facts.served].map(([node, fact]) => [node, fresh(fact)])),
  };
}

/** The facts that concern a reconcile: only their changes wake it. Ages do not count, nor do pending tasks. */
export function projectionOf(facts: EngineFacts): string {
  const { health, nodes, coordination, shards, identities, license, settings, nodeLoad, indices } = facts;
  const { repositories, explanations, served, securityIndex } = facts;
  const shown = <T>(fact: Fact<T>, view: (value: T) => unknown): unknown =>
    fact.isKnown ? view(fact.value) : `unknown: ${fact.why}`;
  return canonicalJson({
    health: shown(health, ({ pendingTasks: _pendingTasks, ...rest }) => rest),
    nodes: shown(nodes, (members) =>
      Object.fromEntries(members.map(({ name, version, isElected }) => [name, [version, isElected]])),
    ),
    coordination: shown(coordination, (value) => value),
    shards: shown(shards, (rows) => countsOf(rows.map(({ node, state }) => `${node ?? ""} ${state}`))),
    identities: [...identities].map(([node, fact]) => [node, shown(fact, (value) => value)]),
    license: shown(license, (value) => value),
    securityIndex: shown(securityIndex, (value) => value),
    settings: shown(settings, (value) => digestOf(value)),
    nodeLoad: shown(nodeLoad, (rows) => rows.map(({ node, shards: held }) => [node, held])),
    indices: shown(indices, (rows) => rows.length),
    repositories: shown(repositories, (rows) => digestOf(rows)),
    explanations: shown(explanations, (rows) =>
      rows.map(({ index, shard, nodes: at }) => [index, shard, at]),
    ),
    served: [...served].map(([node, fact]) => [node, shown(fact, (value) => value)]),
  });
}

function countsOf(values: readonly string[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
}
