import { readFile } from "node:fs/promises";

import { bundle, clusterBundle } from "@quartermaster/api";
import type { Kind, KubeObject } from "@quartermaster/runtime";
import { pods } from "@quartermaster/runtime/kinds";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";

import { setUpBench } from "../support/bench.ts";

const v1 = (kind: Kind): Kind => ({ ...kind, version: "v1" });

describe("samples of bundles", () => {
  test.each([
    { file: "bundle.yaml", kind: v1(bundle.kind as Kind) },
    { file: "cluster-bundle.yaml", kind: v1(clusterBundle.kind as Kind) },
    { file: "bundle-pod.yaml", kind: pods as Kind },
  ])("[subscription-injection/AC-A24] $file applies as it is", async ({ file, kind }) => {
    await using bench = await setUpBench({ isOperating: false });
    const { client, namespace } = bench;
    const url = new URL(`../../../../config/samples/${file}`, import.meta.url);
    const sample = parse(await readFile(url, "utf8")) as KubeObject;
    const location = kind.scope === "Cluster" ? {} : { namespace };
    const object = { ...sample, metadata: { ...sample.metadata, ...location } };
    // Nothing is kept of the ClusterBundle: its name belongs to all tests.
    const dryRun = kind.scope === "Cluster";
    const applied = await client.apply(kind, object, { fieldManager: "tests", force: false, dryRun });
    expect(applied.apiVersion).toBe(sample.apiVersion);
  });
});
