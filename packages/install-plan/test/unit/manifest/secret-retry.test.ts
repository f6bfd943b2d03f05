import { expect, test } from "vitest";

import { secretRetryMs } from "../../../src/manifest/content-reader.ts";
import { beforeFirstWrite } from "../../../src/preflight/before-first-write.ts";
import { aPlan } from "../../support/plans.ts";
import { aSeen } from "../../support/seen.ts";

test.each([
  { waitedMs: 0, want: 1_000 },
  { waitedMs: 39_000, want: 3_900 },
  { waitedMs: 10 * 60_000, want: 60_000 },
  { waitedMs: 24 * 60 * 60_000, want: 60_000 },
])("after $waitedMs ms without its Secret, a plan looks again in $want ms", ({ waitedMs, want }) => {
  expect(secretRetryMs({ unresolvedMs: waitedMs })).toBe(want);
});

test.each([
  { reason: "SecretMissing", secretKeyRef: { name: "s", key: "k" }, wantMs: 1_000 },
  { reason: "ManifestInvalid", secretKeyRef: { name: "s", key: "k" }, wantMs: 1_000 },
  { reason: "ManifestInvalid", wantMs: 600_000 },
  { reason: "ManifestMissing", wantMs: 60_000 },
] as const)("a plan with $reason looks again after $wantMs ms", ({ reason, wantMs, ...spec }) => {
  const seen = aSeen(aPlan("p"));
  const missing = { reason, name: "rm", message: "not there", stage: "s", index: 0 };
  const manifest = { metadata: { name: "rm" }, spec } as unknown as (typeof seen.manifests)[number];
  const rule = beforeFirstWrite.find(({ name }) => name === "manifestsMissing");
  const verdict = rule?.decide(
    { ...seen, content: { ...seen.content, unresolved: [missing] }, manifests: [manifest] },
    new Date(0),
  );
  expect(verdict?.outcome).toMatchObject({ retryAfterMs: wantMs });
});
