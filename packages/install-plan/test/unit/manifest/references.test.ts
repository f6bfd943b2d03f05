import type { ResourceManifest } from "@quartermaster/api";
import { digestOf } from "@quartermaster/runtime";
import { describe, expect, test } from "vitest";

import type { Content } from "../../../src/manifest/content.ts";
import { readContent } from "../../../src/manifest/read-content.ts";
import { aPlan, cm, planOf, sources, tell, version, widget } from "./sample-plan.ts";

describe("readContent follows references", () => {
  const object = { apiVersion: "v1", kind: "ConfigMap", namespace: "shop", name: "a" };
  const reference = (more: object = {}): object => ({
    manifestRef: { name: "rm", sha256: digestOf(cm("a")), object, ...more },
  });
  const rm = (manifest: object, sha256 = digestOf(manifest)): ResourceManifest => ({
    apiVersion: version,
    kind: "ResourceManifest",
    metadata: { name: "rm", namespace: "shop" },
    spec: { manifest, sha256 } as ResourceManifest["spec"],
  });
  const secretRef = { secretKeyRef: { name: "s", key: "k" }, sha256: digestOf(cm("a")) };
  const read = (found: ResourceManifest | undefined, more?: object): Content =>
    readContent(aPlan([{ resources: [reference(more)] }]), { ...sources, manifestOf: () => found });

  test("to content of the permission digest", () => {
    const { members, issues, unresolved } = read(rm(cm("a")));
    expect([members.length, issues, unresolved]).toEqual([1, [], []]);
  });

  test("and leaves the namespace of the reference free", () => {
    expect(read(rm(cm("a")), { object: { apiVersion: "v1", kind: "ConfigMap", name: "a" } }).issues).toEqual(
      [],
    );
  });

  const unresolved = [
    { name: "a missing manifest", given: undefined, want: "ManifestMissing" },
    { name: "other content", given: rm(cm("a", { data: {} })), want: "ContentChanged" },
    {
      name: "content that belies its digest",
      given: rm(cm("a", { data: {} }), digestOf(cm("a"))),
      want: "ContentChanged",
    },
    { name: "a missing Secret", given: { ...rm(cm("a")), spec: secretRef }, want: "SecretMissing" },
    {
      name: "broken data",
      given: { ...rm(cm("a")), spec: { data: "AAAA", encoding: "gzip" as const, sha256: digestOf(cm("a")) } },
      want: "ManifestInvalid",
    },
  ];
  test.for(unresolved)("and names $name", ({ given, want }) => {
    const content = read(given);
    expect(content.unresolved.map(({ reason, name, stage, index }) => [reason, name, stage, index])).toEqual([
      [want, "rm", "s0", 0],
    ]);
    expect(content.issues).toEqual([]);
  });

  test("and refuses a reference that says something else than the manifest", () => {
    expect(tell(read(rm(cm("a")), { object: { ...object, name: "b" } }))).toEqual([
      "InvalidManifest s0[0] manifestRef.object",
    ]);
  });

  test("and refuses a list behind one reference", () => {
    const list = { apiVersion: "v1", kind: "List", items: [cm("a")] };
    expect(tell(read(rm(list), { sha256: digestOf(list) }))).toEqual(["InvalidManifest s0[0] -"]);
  });

  test("and says nothing of kinds while content is missing that may provide them", () => {
    const plan = aPlan([{ resources: [reference(), { manifest: widget() }] }]);
    expect(readContent(plan, sources).issues).toEqual([]);
    expect(tell(readContent(plan, { ...sources, manifestOf: () => rm(cm("a")) }))).toEqual([
      "KindMissing s0[1] kind",
    ]);
  });
});

describe("the digest of content", () => {
  const plan = planOf([cm("a")]);
  test("is the same whatever the cluster holds and however lifecycle is set", () => {
    const other = aPlan([{ resources: [{ manifest: cm("a"), lifecycle: { revert: "Off" } }] }], {
      lifecycle: { cleanup: "Orphan" },
    });
    const { digest } = readContent(plan, sources);
    expect(readContent(plan, { ...sources, kindOf: () => undefined }).digest).toBe(digest);
    expect(readContent(other, sources).digest).toBe(digest);
  });

  test("changes with each manifest, job and reference", () => {
    const job = { name: "j", template: { template: { spec: { containers: [{}], restartPolicy: "Never" } } } };
    const plans = [
      plan,
      planOf([cm("b")]),
      planOf([], [cm("a")]),
      aPlan([{ resources: [{ manifest: cm("a") }], jobs: [job] }]),
    ];
    expect(new Set(plans.map((one) => readContent(one, sources).digest)).size).toBe(plans.length);
  });
});
