import type { KubeObject } from "@quartermaster/runtime";
import { describe, expect, test } from "vitest";

import { driftOf, hasDrifted } from "../../../src/drift/drift.ts";
import type { Member } from "../../../src/model/member.ts";
import { ownerLabelsFor } from "../../../src/ownership/owner-labels.ts";
import { aPlan } from "../../support/plans.ts";
import { aView } from "../../support/seen.ts";

const ownerLabels = { plan: aPlan("p"), revision: 1 };
const { member: plain } = aView("c");

/** A ConfigMap with the keys a, b and ab. */
function aMember(lifecycle: Partial<Member["lifecycle"]> = {}): Member {
  const manifest = { ...plain.manifest, data: { a: "1", b: "2", ab: "3" } };
  return { ...plain, manifest, lifecycle: { ...plain.lifecycle, ...lifecycle } };
}

function fieldsOf(keys: readonly string[]): object {
  return Object.fromEntries(keys.map((key) => [`f:${key}`, {}]));
}

/** What we own when we own these keys and all of our labels. */
function ours(...keys: readonly string[]): object {
  const { labels, annotations } = ownerLabelsFor(ownerLabels, plain.identity);
  const metadata = {
    "f:labels": fieldsOf(Object.keys(labels ?? {})),
    "f:annotations": fieldsOf(Object.keys(annotations ?? {})),
  };
  return by("quartermaster", { "f:metadata": metadata, "f:data": fieldsOf(keys) }, { operation: "Apply" });
}

function by(manager: string, fieldsV1: object, more: object = {}): object {
  return { manager, operation: "Update", fieldsV1, ...more };
}

function live(...managedFields: readonly object[]): KubeObject {
  return { ...plain.manifest, metadata: { ...plain.manifest.metadata, managedFields } };
}

const data = (...keys: readonly string[]): object => ({ "f:data": fieldsOf(keys) });

interface Row {
  readonly name: string;
  readonly lifecycle?: Partial<Member["lifecycle"]>;
  readonly dropped?: readonly string[];
  readonly given: KubeObject;
  readonly want: { readonly paths?: readonly string[]; readonly additions?: readonly string[] };
  readonly manager?: string;
}

describe("how an object departs from what was applied", () => {
  const rows: readonly Row[] = [
    { name: "it does not", given: live(ours("a", "b", "ab")), want: {} },
    {
      name: "another client took a key",
      given: live(ours("a", "ab"), by("kubectl-edit", data("b"))),
      want: { paths: ["/data/b"] },
      manager: "kubectl-edit",
    },
    {
      name: "the last to have written to it is blamed",
      given: live(
        ours("a", "ab"),
        by("early", data("b"), { time: "2026-01-01T00:00:00Z" }),
        by("late", data("b"), { time: "2026-01-02T00:00:00Z" }),
        by("elsewhere", data("z"), { time: "2026-01-03T00:00:00Z" }),
      ),
      want: { paths: ["/data/b"] },
      manager: "late",
    },
    {
      name: "what the server dropped is no drift",
      dropped: ["/data/b"],
      given: live(ours("a", "ab")),
      want: {},
    },
    {
      name: "everything below an ignored path is left to others",
      lifecycle: { ignorePaths: ["/data"] },
      given: live(ours("a"), by("x", data("b"))),
      want: {},
    },
    {
      name: "an ignored path does not hide one that begins alike",
      lifecycle: { ignorePaths: ["/data/a"] },
      given: live(ours("b"), by("x", data("a", "ab"))),
      want: { paths: ["/data/ab"] },
      manager: "x",
    },
    {
      name: "additions are left alone by default",
      given: live(ours("a", "b", "ab"), by("kubectl-edit", data("z"))),
      want: {},
    },
    {
      name: "with Strict, those of a disallowed manager are drift",
      lifecycle: { revert: "Strict" },
      given: live(ours("a", "b", "ab"), by("kubectl-edit", data("z"))),
      want: { additions: ["/data/z"] },
      manager: "kubectl-edit",
    },
    {
      name: "those of others are not",
      lifecycle: { revert: "Strict" },
      given: live(ours("a", "b", "ab"), by("controller", data("z"))),
      want: {},
    },
    {
      name: "those of all others are, where * is disallowed",
      lifecycle: { revert: "Strict", disallowedManagers: ["*"] },
      given: live(ours("a", "b", "ab"), by("controller", data("z"))),
      want: { additions: ["/data/z"] },
      manager: "controller",
    },
    {
      name: "* spares what was written to a subresource, and metadata",
      lifecycle: { revert: "Strict", disallowedManagers: ["*"] },
      given: live(
        ours("a", "b", "ab"),
        by("autoscaler", data("z"), { subresource: "scale" }),
        by("controller", { "f:metadata": { "f:annotations": { "f:note": {} } } }),
      ),
      want: {},
    },
    {
      name: "nor what was written to a subresource",
      lifecycle: { revert: "Strict" },
      given: live(ours("a", "b", "ab"), by("kubectl-edit", data("z"), { subresource: "status" })),
      want: {},
    },
    {
      name: "nor labels, annotations and status",
      lifecycle: { revert: "Strict" },
      given: live(
        ours("a", "b", "ab"),
        by("kubectl-edit", {
          "f:metadata": { "f:annotations": { "f:note": {} } },
          "f:status": { "f:x": {} },
        }),
      ),
      want: {},
    },
  ];

  test.each(rows)("$name", ({ lifecycle = {}, dropped = [], given, want, manager }) => {
    const drift = driftOf(aMember(lifecycle), given, { ownerLabels, dropped });
    expect(drift).toEqual({
      paths: [],
      additions: [],
      ...want,
      ...(manager === undefined ? {} : { manager }),
    });
    expect(hasDrifted(drift)).toBe(Object.keys(want).length > 0);
  });
});
