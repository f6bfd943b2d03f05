import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { ignoredFields, openSearchCluster, opsterOpenSearchCluster, verdictOf } from "@quartermaster/api";
import { isJsonObject, type KubeObject, type Live, realSystem } from "@quartermaster/runtime";
import { events } from "@quartermaster/runtime/kinds";
import { eventually } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";

import type { ClusterObject } from "../../src/model/read-cluster.ts";
import { aCluster, aPool, conditionOf, isReady, setUpSearch } from "../support/search-bench.ts";

function messageOf({ status }: Live<ClusterObject>): string {
  return status?.conditions?.find(({ type }) => type === "FieldsIgnored")?.message ?? "";
}

describe("[search/SC-124] fields without effect", () => {
  test("are named by a condition and one event, and the condition goes with the last of them", async () => {
    await using bench = await setUpSearch();
    const { client, namespace } = bench;
    const spec = { bootstrap: { jvm: "-Xmx1g" }, confMgmt: { VerUpdate: true } };
    await bench.apply(aCluster("logs", { pools: [aPool("nodes", 1)], spec }));
    const ready = await bench.until("logs", isReady);
    expect(conditionOf(ready, "FieldsIgnored")).toBe("True/WithoutEffect");
    expect(messageOf(ready)).toMatch(/spec\.bootstrap: .*spec\.confMgmt\.VerUpdate: /);
    await bench.reconcile("logs", 3);
    const reported = async (): Promise<readonly (readonly [string, number])[]> =>
      (await Array.fromAsync(client.list(events, { namespace }))).flatMap(({ reason, note, series }) =>
        reason === "IgnoredField" ? [[note, series?.count ?? 1] as const] : [],
      );
    await eventually(async (see) => see(await reported()).length > 0 || undefined);
    expect(await reported()).toEqual([
      [expect.stringContaining("spec.bootstrap, spec.confMgmt.VerUpdate"), 1],
    ]);
    await bench.apply(aCluster("logs", { pools: [aPool("nodes", 1)] }));
    const after = await bench.until(
      "logs",
      (object) => isReady(object) && conditionOf(object, "FieldsIgnored") === "False/AllHaveEffect",
    );
    expect(messageOf(after)).toBe("Every field that is set has an effect.");
  });
});

const examples = join(
  realSystem().env["QM_FIXTURES"] ?? join(import.meta.dirname, "../../../../../shared/fixtures"),
  "opensearch-upstream/examples",
);
const groups = [openSearchCluster.kind.group, opsterOpenSearchCluster.kind.group];

function clusters(): readonly (readonly [string, KubeObject])[] {
  if (!existsSync(examples)) return [];
  return readdirSync(examples).flatMap((file) =>
    parseAllDocuments(readFileSync(join(examples, file), "utf8"))
      .map((document) => document.toJS() as KubeObject)
      .filter(({ kind }) => kind === "OpenSearchCluster")
      .map((object) => [file, object] as const),
  );
}

/** Paths of all values, without indices. */
function pathsIn(value: unknown, at: string): readonly string[] {
  if (Array.isArray(value)) {
    const below = value.flatMap((each: unknown) => (isJsonObject(each) ? pathsIn(each, `${at}[]`) : []));
    return below.length === 0 ? [at] : below;
  }
  if (!isJsonObject(value)) return value === null ? [] : [at];
  return Object.entries(value).flatMap(([key, each]) => pathsIn(each, at === "" ? key : `${at}.${key}`));
}

describe.skipIf(!existsSync(examples))("files of upstream (fixtures not present: skipped)", () => {
  test.for(clusters())("[search/SC-124] %s: every path has an effect or is named", ([, object]) => {
    expect(groups).toContain(object.apiVersion.split("/")[0]);
    const { spec } = object as KubeObject & { readonly spec: object };
    const named = ignoredFields("OpenSearchCluster", spec).map(({ path }) =>
      path.replace("spec.", "").replaceAll(/\[\d+\]/g, "[]"),
    );
    const silent = pathsIn(spec, "").filter((path) => {
      const verdict = verdictOf("OpenSearchCluster", path);
      const isNamed = named.some((each) => path === each || path.startsWith(`${each}.`));
      return !isNamed && verdict?.verdict !== "effect" && !isAgreed(verdict);
    });
    expect(silent).toEqual([]);
  });
});

/** A value that says what happens anyway. */
function isAgreed(verdict: ReturnType<typeof verdictOf>): boolean {
  return verdict?.verdict === "none" && verdict.agrees.length > 0;
}
