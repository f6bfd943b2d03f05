import type { KubeObject } from "@quartermaster/runtime";
import { describe, expect, test } from "vitest";

import { ownerLabelsFor, planId, planIdOn, releasePatch } from "../../../src/ownership/owner-labels.ts";
import { ownershipOf } from "../../../src/ownership/ownership.ts";
import { aPlan } from "../../support/plans.ts";

const began = { startedAt: "2026-01-01T00:00:00Z" };
const done = { ...began, finishedAt: "2026-01-01T00:00:00Z" };
const identity = { apiVersion: "v1", kind: "ConfigMap", namespace: "ns", name: "c" };
const labelPath = { "f:metadata": { "f:labels": { "f:install.quartermaster.dev/plan-id": {} } } };
const annotationPath = { "f:metadata": { "f:annotations": { "f:install.quartermaster.dev/object": {} } } };
const dataPath = { "f:data": { "f:a": {} } };

function entry(manager: string, operation: string, fieldsV1: object): object {
  return { manager, operation, fieldsV1, apiVersion: "v1", fieldsType: "FieldsV1" };
}

const applied = entry("quartermaster", "Apply", labelPath);

/** Bears the marks of the plan with this name. */
function owned(name: string, managedFields: readonly object[], more: object = {}): KubeObject {
  const ownerLabels = ownerLabelsFor({ plan: aPlan(name), revision: 1 }, identity);
  const { apiVersion, kind, ...location } = identity;
  return { apiVersion, kind, metadata: { ...location, ...ownerLabels, managedFields, ...more } };
}

describe("whose a restored object is", () => {
  const former = owned("p", [], {});
  const relabelled = (labels: object): KubeObject => ({
    ...former,
    metadata: { ...former.metadata, labels: { ...former.metadata.labels, ...labels } },
  });
  const old = { "install.quartermaster.dev/plan-id": "0".repeat(40) };
  const elsewhere: KubeObject = { ...relabelled(old), metadata: { ...relabelled(old).metadata, name: "d" } };

  test.each([
    {
      name: "labels of the plan before it was restored",
      live: relabelled(old),
      restore: "given",
      want: "inherited",
    },
    { name: "labels of the plan itself", live: former, restore: "given", want: "inherited" },
    { name: "no one said so", live: relabelled(old), restore: "none", want: "unowned" },
    { name: "no one may be believed", live: relabelled(old), restore: "unguarded", want: "unowned" },
    {
      name: "labels of a plan of another name",
      live: relabelled({ ...old, "install.quartermaster.dev/plan": "q" }),
      restore: "given",
      want: "unowned",
    },
    {
      name: "labels of a plan that lives",
      live: relabelled({ "install.quartermaster.dev/plan-id": "living" }),
      restore: "given",
      want: "unowned",
    },
    { name: "labels that were made for another object", live: elsewhere, restore: "given", want: "unowned" },
  ] as const)("$name: $want", ({ live, restore, want }) => {
    const living = new Map([["living", "ns/q"]]);
    const context = { plan: aPlan("p"), takesOverFrom: new Set<string>(), living, restore };
    expect(ownershipOf(live, context).kind).toBe(want);
  });
});

describe("whose an object is", () => {
  const controller = { apiVersion: "v1", kind: "Thing", name: "t", uid: "u", controller: true };
  const forged = { kind: "unowned", isForged: true };

  test.each([
    { name: "applied by us", status: began, live: owned("p", [applied]), want: { kind: "owned" } },
    {
      name: "the label was written by others too",
      status: began,
      live: owned("p", [
        entry("kubectl", "Update", labelPath),
        entry("quartermaster", "Apply", annotationPath),
      ]),
      want: { kind: "owned" },
    },
    { name: "before the plan has started", status: {}, live: owned("p", [applied]), want: forged },
    { name: "labels without any manager", status: began, live: owned("p", []), want: forged },
    {
      name: "labels by another manager",
      status: done,
      live: owned("p", [entry("velero", "Update", labelPath)]),
      want: forged,
    },
    {
      name: "labels by an update under our name",
      status: began,
      live: owned("p", [entry("quartermaster", "Update", labelPath)]),
      want: forged,
    },
    {
      name: "an apply of ours that set other fields only",
      status: began,
      live: owned("p", [entry("quartermaster", "Apply", dataPath)]),
      want: forged,
    },
    {
      name: "installed by us, its label taken off by another client",
      status: done,
      live: owned("p", [entry("quartermaster", "Apply", annotationPath)], { labels: {} }),
      want: { kind: "owned" },
    },
    {
      name: "the same while the plan is being installed",
      status: began,
      live: owned("p", [entry("quartermaster", "Apply", annotationPath)], { labels: {} }),
      want: { kind: "unowned" },
    },
    {
      name: "labels without proof on what a controller owns",
      status: began,
      live: owned("p", [], { ownerReferences: [controller] }),
      want: { kind: "ownedByOther", owner: "Thing t" },
    },
    { name: "of a predecessor", status: {}, live: owned("old", [applied]), want: { kind: "inherited" } },
    {
      name: "labels of a predecessor without proof",
      status: {},
      live: owned("old", []),
      want: { kind: "unowned" },
    },
    {
      name: "of another plan",
      status: began,
      live: owned("other", [applied]),
      want: { kind: "ownedByOther", owner: "plan ns/other" },
    },
    {
      name: "labels of another plan without proof",
      status: began,
      live: owned("other", []),
      want: { kind: "unowned" },
    },
  ])("$name", ({ status, live, want }) => {
    const idOf = (name: string): string => planId(aPlan(name).metadata);
    const context = {
      plan: aPlan("p", { status }),
      takesOverFrom: new Set([idOf("old")]),
      living: new Map(["p", "old", "other"].map((name) => [idOf(name), `ns/${name}`])),
    };
    expect(ownershipOf(live, context)).toEqual(want);
  });
});

describe("whose an object is, in words that the plan's author may read", () => {
  const elsewhere = { namespace: "far", name: "stranger", uid: "uid-stranger" };
  const alike = { namespace: "ns-2", name: "namesake", uid: "uid-namesake" };
  const living = new Map(
    [elsewhere, alike].map((owner) => [planId(owner), `${owner.namespace}/${owner.name}`]),
  );

  test.each([
    { name: "a plan elsewhere is not named", owner: elsewhere },
    { name: "nor one of a namespace that begins alike", owner: alike },
  ])("$name", ({ owner }) => {
    const { apiVersion, kind, ...location } = identity;
    const ownerLabels = ownerLabelsFor({ plan: { metadata: owner }, revision: 1 }, identity);
    const live = { apiVersion, kind, metadata: { ...location, ...ownerLabels, managedFields: [applied] } };
    const context = { plan: aPlan("p", { status: began }), takesOverFrom: new Set<string>(), living };
    expect(ownershipOf(live, context)).toEqual({
      kind: "ownedByOther",
      owner: "a plan in another namespace",
    });
  });
});

describe("what proves that owner labels are ours", () => {
  const ownLabels = owned("p", []).metadata.labels ?? {};

  test.each([
    { name: "an apply of ours", managers: [applied], isOurs: true },
    {
      name: "a Job that we created",
      managers: [entry("quartermaster-job", "Update", labelPath)],
      isOurs: true,
    },
    {
      name: "an apply of ours to the status alone",
      managers: [{ ...applied, subresource: "status" }],
      isOurs: false,
    },
    {
      name: "an update under our name",
      managers: [entry("quartermaster", "Update", labelPath)],
      isOurs: false,
    },
    { name: "an apply of another client", managers: [entry("kubectl", "Apply", labelPath)], isOurs: false },
    {
      name: "an apply of ours to other fields",
      managers: [entry("quartermaster", "Apply", dataPath)],
      isOurs: false,
    },
    {
      name: "an apply of ours beside those of others",
      managers: [entry("kubectl", "Apply", labelPath), entry("helm", "Update", dataPath), applied],
      isOurs: true,
    },
  ])("$name: $isOurs", ({ managers, isOurs }) => {
    expect(planIdOn(owned("p", managers)) === planId(aPlan("p").metadata)).toBe(isOurs);
  });

  test.each([0, 1, 2, 3])("giving an object up leaves the claims of %i others and none of ours", (count) => {
    const others = ["kubectl", "helm", "flux"].slice(0, count).map((name) => entry(name, "Apply", dataPath));
    const live = owned("p", [...others, applied], { uid: "u", resourceVersion: "7" });
    expect(releasePatch(live)).toEqual({
      metadata: {
        uid: "u",
        resourceVersion: "7",
        labels: Object.fromEntries(
          Object.keys({ ...ownLabels, "install.quartermaster.dev/plan": "" }).map((key) => [key, null]),
        ),
        annotations: { "install.quartermaster.dev/object": null },
        // One empty entry clears the list; an empty list would leave our claim.
        managedFields: count === 0 ? [{}] : others,
      },
    });
  });
});
