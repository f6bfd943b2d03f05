import { cpuMs } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import {
  isApiVersion,
  isDnsLabel,
  isDnsSubdomain,
  isKindName,
  isPathSegment,
} from "../../src/manifest/object-problems.ts";
import { parseLabelSelector, transformationProblems } from "../../src/manifest/transformation-problems.ts";
import { aPlan } from "../support/plans.ts";

const length = 100_000;

const hostile = {
  letters: `${"a".repeat(length)}!`,
  dashes: `${"a-".repeat(length / 2)}!`,
  dots: `${"a.".repeat(length / 2)}!`,
  slashes: "a/".repeat(length / 2),
  spaces: `a=${" ".repeat(length)}=`,
  commas: `${"a,".repeat(length / 2)}(`,
  brackets: `a in (${" ".repeat(length)}`,
} as const;

function fieldSelectorProblems(fieldSelector: string): unknown {
  const from = { apiVersion: "v1", kind: "Pod", fieldSelector, allowUnowned: false, maxMatches: 1 };
  const rule = {
    name: "t",
    from,
    to: {},
    strategy: "CreateBeforeDelete",
    propagation: "Background",
  } as const;
  return transformationProblems(rule, { plan: aPlan("p"), members: [], scopeOf: () => "Namespaced" });
}

const readers = {
  isDnsLabel,
  isDnsSubdomain,
  isPathSegment,
  isApiVersion,
  isKindName,
  parseLabelSelector,
  fieldSelectorProblems,
} as const;

describe("patterns and expressions of authors", () => {
  test.each(
    Object.entries(readers).flatMap(([reader, read]) =>
      Object.entries(hostile).map(([text, input]) => ({ reader, text, work: (): unknown => read(input) })),
    ),
  )("[security/23] $reader reads 100 kB of $text in 10 ms", ({ work }) => {
    expect(cpuMs(work)).toBeLessThan(10);
  });
});
