import { readFile } from "node:fs/promises";

import { elasticsearchCluster, openSearchCluster } from "@quartermaster/api";
import { describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";

import { isReady, setUpSearch } from "../support/search-bench.ts";

describe("samples of search clusters", () => {
  test.each([
    { file: "opensearch.yaml", kind: openSearchCluster.kind, version: "2.19.4" },
    { file: "opensearch-single.yaml", kind: openSearchCluster.kind, version: "2.19.4" },
    { file: "opensearch-backup.yaml", kind: openSearchCluster.kind, version: "2.19.4" },
    { file: "opensearch-autoscaling.yaml", kind: openSearchCluster.kind, version: "2.19.4" },
    { file: "elasticsearch-trial.yaml", kind: elasticsearchCluster.kind, version: "7.17.28" },
  ])("$file applies as it is, and becomes Ready", async ({ file, kind, version }) => {
    await using bench = await setUpSearch();
    const url = new URL(`../../../../config/samples/${file}`, import.meta.url);
    const documents = parseAllDocuments(await readFile(url, "utf8")).map(
      (document) =>
        document.toJS() as {
          readonly kind: string;
          readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
        },
    );
    const clusters = documents.filter((each) => each.kind === kind.kind);
    expect(clusters).toHaveLength(1);
    for (const sample of clusters) {
      await bench.apply(sample);
      const ready = await bench.until(sample.metadata.name, isReady, kind);
      expect(ready.status?.version).toBe(version);
      // The label of a sample is what its engine runs under.
      const wanted = sample.metadata.labels?.["k8s.elastic.co/desired-license"];
      expect(ready.status?.license?.type).toBe(wanted);
    }
  });
});
