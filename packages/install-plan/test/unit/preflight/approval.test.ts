import { describe, expect, test } from "vitest";

import { approvalOf, coveredPreview } from "../../../src/preflight/preview.ts";
import { aPlan } from "../../support/plans.ts";
import { aSeen, clear } from "../../support/seen.ts";

const preflight = { ...clear, digest: "now" };
const manual = { approval: "Manual" } as const;
const bare = { ...manual, approved: true } as const;
const shown = (digest: string): object => ({ preview: { digest } });

describe("whether an approval covers the present preview", () => {
  const cases: readonly {
    readonly name: string;
    readonly spec: object;
    readonly status?: object;
    readonly want: readonly [approval: string, covered: string | undefined];
  }[] = [
    { name: "none is requested", spec: { approved: true }, want: ["automatic", undefined] },
    { name: "none was given", spec: manual, status: shown("now"), want: ["missing", undefined] },
    {
      name: "a digest without approved is no approval",
      spec: { ...manual, approvedPreview: "now" },
      want: ["missing", undefined],
    },
    {
      name: "one that names the present preview",
      spec: { ...bare, approvedPreview: "now" },
      status: shown("before"),
      want: ["given", "now"],
    },
    {
      name: "one that names another preview",
      spec: { ...bare, approvedPreview: "before" },
      status: shown("before"),
      want: ["outdated", "before"],
    },
    { name: "one at creation covers the first preview", spec: bare, want: ["given", "now"] },
    {
      name: "one that names none covers the preview that was shown",
      spec: bare,
      status: shown("now"),
      want: ["given", "now"],
    },
    {
      name: "but not another one that is seen together with it",
      spec: bare,
      status: shown("before"),
      want: ["outdated", "before"],
    },
    {
      name: "nor one that is shown later",
      spec: bare,
      status: { ...shown("now"), approvedPreview: "before" },
      want: ["outdated", "before"],
    },
    {
      name: "a digest that is given later counts instead",
      spec: { ...bare, approvedPreview: "now" },
      status: { ...shown("now"), approvedPreview: "before" },
      want: ["given", "now"],
    },
    {
      name: "a plan that has started was approved",
      spec: { ...bare, approvedPreview: "before" },
      status: { startedAt: "2026-01-01T00:00:00Z" },
      want: ["given", "before"],
    },
  ];

  test.each(cases)("$name", ({ spec, status, want }) => {
    const seen = aSeen(aPlan("p", { spec, ...(status === undefined ? {} : { status }) }), { preflight });
    expect([approvalOf(seen), coveredPreview(seen)]).toEqual(want);
  });
});
