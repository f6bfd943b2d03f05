import { ALWAYS_INJECT_LABEL, type Bundle } from "@quartermaster/api";
import { type Context, ExternalError, type Live, type ReadStore } from "@quartermaster/runtime";
import { describe, expect, test } from "vitest";

import {
  fileLimit,
  objectKeyLimit,
  type Reference,
  referenceKey,
  referencesOf,
} from "../../src/injection/injection-facts.ts";
import { AlwaysInjectPeers } from "../../src/references/always-inject-peers.ts";
import { judgeKeys, type Provider } from "../../src/references/judge-keys.ts";
import { judgeReferences } from "../../src/references/judge-references.ts";
import { keyNames, type KnownKeys, readKeys } from "../../src/references/read-keys.ts";
import { bundleLimit, withinLimits } from "../../src/references/within-limits.ts";
import { aPod, decide } from "../support/injection-cases.ts";

interface Given {
  readonly name: string;
  readonly created?: string;
  readonly secrets?: readonly string[];
  readonly isLabelled?: boolean;
}

function aBundle({ name, created = "2026-01-01T00:00:00Z", secrets = [], isLabelled = false }: Given) {
  return {
    apiVersion: "subscription.openshift.io/v1alpha1",
    kind: "Bundle",
    metadata: {
      name,
      namespace: "ns",
      uid: name,
      resourceVersion: "1",
      creationTimestamp: created,
      ...(isLabelled ? { labels: { [ALWAYS_INJECT_LABEL]: "true" } } : {}),
    },
    spec: { entitlements: secrets.map((secret) => ({ name: secret, optional: false })) },
  } as unknown as Live<Bundle>;
}

const numbered = (count: number, stem: string): readonly string[] =>
  Array.from({ length: count }, (_, at) => `${stem}${String(at).padStart(4, "0")}`);

function storeOf(bundles: readonly Live<Bundle>[]): ReadStore<Bundle> {
  return { list: () => bundles, listBy: () => bundles } as unknown as ReadStore<Bundle>;
}

describe("bundles of a namespace beyond its limits", () => {
  const beyondOf = (bundles: readonly Live<Bundle>[]) => [...withinLimits(bundles).beyond];
  const full = [0, 1, 2, 3].map((at) => aBundle({ name: `old${at}`, secrets: numbered(64, `s${at}-`) }));
  const later = "2026-01-02T00:00:00Z";

  test.each([
    { name: "none", bundles: full, want: [] },
    {
      name: "one with another object",
      bundles: [aBundle({ name: "a", created: later, secrets: ["x"] }), ...full],
      want: ["a"],
    },
    {
      name: "none with known objects only",
      bundles: [...full, aBundle({ name: "a", created: later, secrets: ["s0-0000"] })],
      want: [],
    },
    {
      name: "the younger of two, whichever name it has",
      bundles: [...full.slice(1), aBundle({ name: "a", created: later, secrets: numbered(65, "x") })],
      want: ["a"],
    },
    {
      name: "those after the first 128",
      bundles: numbered(130, "b").map((name) => aBundle({ name })),
      want: numbered(130, "b").slice(bundleLimit),
    },
  ])("[security/124] $name", ({ bundles, want }) => {
    expect(beyondOf(bundles)).toEqual(want);
  });
});

describe("always-inject bundles of a namespace", () => {
  const labelled = numbered(300, "b").map((name) => aBundle({ name, secrets: [name], isLabelled: true }));
  const store = storeOf(labelled);
  const at = (index: number): Live<Bundle> => labelled[index] ?? aBundle({ name: "absent" });

  test("[security/124] the first 32 are compared with each other, and the others say that they come too late", () => {
    const peers = new AlwaysInjectPeers<Bundle>({ referencesOf });
    const first = peers.of(at(0), store);
    expect(first.map(({ name }) => name)).toEqual(numbered(32, "b"));
    // One list for all, so that what is found out about it is found out once.
    expect(peers.of(at(31), store)).toBe(first);
    expect(peers.of(at(32), store)).toEqual([]);
    expect([peers.isSurplus(at(31), store), peers.isSurplus(at(32), store)]).toEqual([false, true]);
    expect([peers.isBeyondLimits(at(127), store), peers.isBeyondLimits(at(128), store)]).toEqual([
      false,
      true,
    ]);
  });

  test("one beyond the limits of its namespace is not injected, and those of other namespaces do not count", () => {
    const old = [0, 1, 2, 3].map((number) =>
      aBundle({ name: `old${number}`, secrets: numbered(64, `s${number}-`), isLabelled: true }),
    );
    const late = aBundle({
      name: "late",
      created: "2026-01-02T00:00:00Z",
      secrets: ["x"],
      isLabelled: true,
    });
    const elsewhere = { ...late, metadata: { ...late.metadata, namespace: "other", uid: "other-late" } };
    const all = [...old, late, elsewhere];
    const byPosition = {
      list: () => all,
      listBy: (_index: unknown, namespace: string) =>
        all.filter(({ metadata }) => metadata.namespace === namespace),
    } as unknown as ReadStore<Bundle>;
    const peers = new AlwaysInjectPeers<Bundle>({ referencesOf });
    const [first = late] = old;
    expect(peers.of(first, byPosition).map(({ name }) => name)).toEqual(
      old.map(({ metadata }) => metadata.name),
    );
    expect([peers.isBeyondLimits(late, byPosition), peers.of(late, byPosition)]).toEqual([true, []]);
    expect(peers.isBeyondLimits(elsewhere, byPosition)).toBe(false);
    expect(peers.of(elsewhere, byPosition).map(({ name }) => name)).toEqual(["late"]);
  });

  test("[security/124] a change concerns 33 of them: those that are injected, and the next one", () => {
    const peers = new AlwaysInjectPeers<Bundle>({ referencesOf });
    const first = peers.of(at(0), store);
    const source = peers.watch({} as never) as unknown as { map(object: Live<Bundle>): readonly object[] };
    const map = Object.values(source).find(
      (each): each is (object: Live<Bundle>) => readonly object[] => typeof each === "function",
    );
    expect(map?.(at(7))).toHaveLength(33);
    expect(peers.of(at(0), store)).not.toBe(first);
  });
});

/** The worst that the limits allow: 32 bundles, each with as many files as a pod may get, all in conflict. */
function worstCase(): { readonly providers: readonly Provider[]; readonly keys: KnownKeys } {
  const names = numbered(objectKeyLimit, "k");
  const keys = new Map<string, { readonly kind: "keys"; readonly keys: readonly string[] }>();
  const providers = numbered(32, "b").map((name) => {
    const bundle = aBundle({ name, secrets: numbered(4, `${name}-`) });
    const references: readonly Reference[] = referencesOf(bundle).map((each, index) => ({
      ...each,
      prefix: `p${index}`,
    }));
    for (const { object } of references) keys.set(referenceKey(object), { kind: "keys", keys: names });
    return { name, references };
  });
  return { providers, keys };
}

describe("keys", () => {
  test("[security/124] 32 bundles with 4,096 files each are compared once for all of them", () => {
    const { providers, keys } = worstCase();
    const startMs = performance.now();
    const responses = providers.map((own) => judgeKeys({ kind: "Bundle", own, peers: providers, keys }));
    const tookMs = performance.now() - startMs;
    expect(responses.every(({ problem }) => problem?.reason === "EntitlementKeyConflict")).toBe(true);
    expect(responses[5]?.problem?.message).toContain('Key "p0k0000" is in Bundles "b0000" and "b0005"');
    // Each with each took 37 s for 300 bundles. Measured: 0.4 s for all 32 answers.
    expect(tookMs).toBeLessThan(5_000);
  });

  test.each([
    { name: "as many keys as an object may have", keys: objectKeyLimit, objects: 1, want: undefined },
    { name: "one more", keys: objectKeyLimit + 1, objects: 1, want: "TooManyKeys" },
    {
      name: "as many files as a pod may get",
      keys: objectKeyLimit,
      objects: fileLimit / objectKeyLimit,
      want: undefined,
    },
    {
      name: "more than that",
      keys: objectKeyLimit,
      objects: fileLimit / objectKeyLimit + 1,
      want: "TooManyKeys",
    },
  ])("[security/124] a bundle with $name", async ({ keys: count, objects, want }) => {
    const references = referencesOf(aBundle({ name: "b", secrets: numbered(objects, "s") }));
    const data = Object.fromEntries(numbered(count, "k").map((key) => [key, ""]));
    const metadata = { name: "s", namespace: "ns", uid: "u", resourceVersion: "1" };
    const kept = keyNames.project({ apiVersion: "v1", kind: "Secret", metadata, data } as never);
    expect(kept.keyNames.length).toBeLessThanOrEqual(objectKeyLimit + 1);
    const { keys } = await readKeys(references, { follow: () => kept } as unknown as Context);
    expect(judgeReferences(references, keys).problem?.reason).toBe(want);
  });

  test("[security/124] where all watches are taken an object is read, and nothing is called forbidden", async () => {
    const references = referencesOf(aBundle({ name: "b", secrets: ["s"] }));
    const limits: unknown[] = [];
    const ctx = {
      follow: () => {
        throw new ExternalError("full", { class: "refused", reason: "FollowLimitReached" });
      },
      client: {
        find: async (_kind: unknown, _ref: unknown, options: unknown) => {
          limits.push(options);
          return await Promise.resolve({ metadata: { name: "s" }, data: { "a.pem": "" } });
        },
      },
    } as unknown as Context;
    const { keys, isPolled } = await readKeys(references, ctx);
    expect([...keys.values()]).toEqual([{ kind: "keys", keys: ["a.pem"] }]);
    expect(isPolled).toBe(true);
    expect(JSON.stringify(limits)).toContain("textLimitBytes");
  });
});

describe("the bundles of a pod", () => {
  const names = numbered(objectKeyLimit, "k");
  const secretsOf = (bundle: string): readonly string[] => numbered(32, `${bundle}-`);
  const all = numbered(8, "b");
  const bundles = Object.fromEntries(
    all.map((name) => [
      name,
      { isAuto: true, entitlements: secretsOf(name).map((secret) => ({ name: secret, prefix: secret })) },
    ]),
  );
  const secrets = Object.fromEntries(all.flatMap(secretsOf).map((name) => [`app/${name}`, names]));

  test("[security/124] 256 objects with 1,024 keys each are decided upon in a moment: automatic ones are skipped, named ones rejected", () => {
    const startMs = performance.now();
    const automatic = decide(aPod(), { bundles, secrets });
    const tookMs = performance.now() - startMs;
    expect(automatic.decision.admission.kind).toBe("allow");
    expect(automatic.warnings.join()).toContain("TooManyKeys");
    // 256 objects with 5,000 keys took 6.8 s. Measured: 20 ms.
    expect(tookMs).toBeLessThan(2_000);
    const named = decide(aPod({ annotations: { "inject-bundle": "b0000" } }), { bundles, secrets });
    expect(named.message).toContain("TooManyKeys: the bundles of a pod may give it at most 4096 files");
  });

  test("[security/124] an object with more keys than it may have is not mounted", () => {
    const one = { one: { entitlements: [{ name: "s" }] } };
    const given = { bundles: one, secrets: { "app/s": numbered(5_000, "k") } };
    expect(decide(aPod({ annotations: { "inject-bundle": "one" } }), given).message).toContain("TooManyKeys");
  });
});
