import { ALWAYS_INJECT_LABEL, bundle } from "@quartermaster/api";
import { classify } from "@quartermaster/runtime";
import { secrets } from "@quartermaster/runtime/kinds";
import { eventually, makeNamespace } from "@quartermaster/testkit";
import { expect, test } from "vitest";

import { type BundleBench, conditionOf, ownLabel, setUpBench } from "../support/bench.ts";

const numbered = (count: number, stem: string): readonly string[] =>
  Array.from({ length: count }, (_, at) => `${stem}${String(at).padStart(3, "0")}`);

interface Wanted {
  readonly namespace: string;
  readonly name: string;
  readonly secrets: readonly string[];
  readonly isLabelled?: boolean;
}

async function create(bench: BundleBench, wanted: Wanted): Promise<void> {
  const labels = {
    [ownLabel]: bench.namespace,
    ...(wanted.isLabelled === true ? { [ALWAYS_INJECT_LABEL]: "true" } : {}),
  };
  await bench.client.create(bundle.kind, {
    apiVersion: "subscription.openshift.io/v1alpha1",
    kind: "Bundle",
    metadata: { name: wanted.name, namespace: wanted.namespace, labels },
    spec: { entitlements: wanted.secrets.map((name) => ({ name, optional: false })) },
  });
}

async function makeSecret(
  bench: BundleBench,
  ref: Record<"namespace" | "name", string>,
  keys: readonly string[],
) {
  const data = Object.fromEntries(keys.map((key) => [key, ""]));
  await bench.client.create(secrets, { apiVersion: "v1", kind: "Secret", metadata: ref, data });
}

/** How long a new Bundle of a bystander takes until it is ready. */
async function servedWithinMs(bench: BundleBench, namespace: string, name: string): Promise<number> {
  const startMs = performance.now();
  await makeSecret(bench, { namespace, name }, ["a.pem"]);
  await create(bench, { namespace, name, secrets: [name] });
  await eventually(
    async (see) => {
      const found = await bench.client.get(bundle.kind, { namespace, name });
      see(found.status);
      return conditionOf(found, "Ready")?.startsWith("True");
    },
    { withinMs: 60_000, everyMs: 50 },
  );
  return performance.now() - startMs;
}

/** Why the Bundles of a namespace are ready or not. */
async function reasonsOf(bench: BundleBench, namespace: string): Promise<ReadonlySet<string>> {
  const reasons = new Set<string>();
  for await (const each of bench.client.list(bundle.kind, { namespace }))
    reasons.add(conditionOf(each, "Ready") ?? "unknown");
  return reasons;
}

test("[security/124] while one namespace takes watches, keys and automatic bundles, a neighbor's Bundle is served within 5 s", async () => {
  await using bench = await setUpBench({ isClusterWide: true });
  await using neighbor = await makeNamespace(bench.cluster.api, "neighbor");
  const { namespace } = bench;
  const keys = numbered(1_000, "key");
  for (const name of numbered(32, "wide")) await makeSecret(bench, { namespace, name }, keys);
  for (const [at, name] of numbered(100, "auto").entries())
    await create(bench, {
      namespace,
      name,
      secrets: numbered(32, "wide")
        .slice(at % 32)
        .slice(0, 1),
      isLabelled: true,
    });
  // As many references as a list may have: 68 of them took all watches of the operator.
  for (const name of numbered(70, "greedy"))
    await create(bench, { namespace, name, secrets: numbered(32, `${name}-`) });
  const stopping = new AbortController();
  const edits = (async () => {
    for (let round = 0; !stopping.signal.aborted; round += 1)
      await bench.patch(
        secrets,
        { namespace, name: "wide000" },
        { stringData: { [`added${round % 20}`]: "x" } },
      );
  })();
  const took: number[] = [];
  for (const name of numbered(5, "calm")) took.push(await servedWithinMs(bench, neighbor.name, name));
  stopping.abort();
  await edits;
  process.stdout.write(
    `a neighbor's Bundle was ready after ${took.map((ms) => ms.toFixed(0)).join(", ")} ms\n`,
  );
  expect(Math.max(...took)).toBeLessThan(5_000);
  // Of the greedy namespace the oldest are served, and the others say why not.
  const reasons = await eventually(async (see) => {
    const found = see(await reasonsOf(bench, namespace));
    return found.has("unknown") ? undefined : found;
  });
  expect([...reasons]).toContain("False/NamespaceLimit");
  expect([...reasons]).toContain("False/AlwaysInjectLimit");
  expect([...reasons]).not.toContain("False/ReferenceForbidden");
}, 180_000);

test("[security/124] a Bundle of a megabyte is rejected by its schema", async () => {
  await using bench = await setUpBench({ isOperating: false });
  const long = "k".repeat(250);
  const items = numbered(64, long).map((key) => ({ key, path: key }));
  const entitlements = numbered(32, "s").map((name) => ({ name, items }));
  const refused = await bench.bundle("large", { entitlements }).then(
    () => "accepted",
    (error: unknown) => `${classify(error)} ${error instanceof Error ? error.message : ""}`,
  );
  expect(refused).toContain("invalid");
  expect(refused).toContain("together must be at most 128");
});
