import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { type KubeObject, realSystem } from "@quartermaster/runtime";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";

import { healthOf, type HealthState } from "../../src/index.ts";

const repository = join(import.meta.dirname, "../../../..");
const fixtures = join(realSystem().env["QM_FIXTURES"] ?? join(repository, "../shared/fixtures"), "health");
const isPresent = existsSync(fixtures);

/** The verdicts of gitops-engine's own test; it has none for kinds that it does not know. */
const theirs: Readonly<Record<string, "Healthy" | "Progressing" | "Degraded" | "Suspended" | "none">> = {
  "apiservice-v1-false.yaml": "Progressing",
  "apiservice-v1-true.yaml": "Healthy",
  "apiservice-v1beta1-false.yaml": "Progressing",
  "apiservice-v1beta1-true.yaml": "Healthy",
  "application-degraded.yaml": "none",
  "application-healthy.yaml": "none",
  "daemonset-ondelete.yaml": "Healthy",
  "deployment-degraded.yaml": "Degraded",
  "deployment-progressing.yaml": "Progressing",
  "deployment-suspended.yaml": "Suspended",
  "hpa-v1-degraded.yaml": "Degraded",
  "hpa-v1-healthy-toofew.yaml": "Healthy",
  "hpa-v1-healthy.yaml": "Healthy",
  "hpa-v1-progressing-with-no-annotations.yaml": "Progressing",
  "hpa-v1-progressing.yaml": "Progressing",
  "hpa-v2-degraded.yaml": "Degraded",
  "hpa-v2-healthy.yaml": "Healthy",
  "hpa-v2-progressing.yaml": "Progressing",
  "hpa-v2beta1-healthy-disabled.yaml": "Healthy",
  "hpa-v2beta1-healthy.yaml": "Healthy",
  "hpa-v2beta2-healthy.yaml": "Healthy",
  "ingress-nonemptylist.yaml": "Healthy",
  "ingress-unassigned.yaml": "Progressing",
  "ingress.yaml": "Healthy",
  "job-failed.yaml": "Degraded",
  "job-running.yaml": "Progressing",
  "job-succeeded.yaml": "Healthy",
  "job-suspended.yaml": "Suspended",
  "knative-service.yaml": "none",
  "pod-crashloop.yaml": "Degraded",
  "pod-deletion.yaml": "Progressing",
  "pod-error.yaml": "Degraded",
  "pod-failed.yaml": "Degraded",
  "pod-imagepullbackoff.yaml": "Degraded",
  "pod-pending.yaml": "Progressing",
  "pod-running-not-ready.yaml": "Progressing",
  "pod-running-restart-always.yaml": "Healthy",
  "pod-running-restart-never.yaml": "Progressing",
  "pod-running-restart-onfailure.yaml": "Progressing",
  "pod-succeeded.yaml": "Healthy",
  "pvc-bound.yaml": "Healthy",
  "pvc-pending.yaml": "Progressing",
  "statefulset-ondelete.yaml": "Healthy",
  "statefulset.yaml": "Healthy",
  "svc-clusterip.yaml": "Healthy",
  "svc-loadbalancer-nonemptylist.yaml": "Healthy",
  "svc-loadbalancer-unassigned.yaml": "Progressing",
  "svc-loadbalancer.yaml": "Healthy",
};

const ourTerm = {
  Healthy: "Ready",
  Progressing: "InProgress",
  Degraded: "Failed",
  Suspended: "Suspended",
  none: "Ready",
} as const;

/** Where we differ on purpose; docs/reference/health.md says why, row for row. */
const differences: Readonly<Record<string, HealthState>> = {
  "hpa-v1-healthy.yaml": "Failed",
  "ingress-unassigned.yaml": "Ready",
  "pod-deletion.yaml": "Terminating",
  "pod-error.yaml": "InProgress",
  "pod-running-restart-never.yaml": "Ready",
  "pod-running-restart-onfailure.yaml": "Failed",
  "svc-loadbalancer-unassigned.yaml": "Ready",
};

/** An hour old: every limit of time has passed. */
function judge(file: string): HealthState {
  // One of the files says a key twice.
  const read: unknown = parse(readFileSync(join(fixtures, file), "utf8"), {
    uniqueKeys: false,
  });
  const object = read as Partial<KubeObject>;
  const named = { ...object, metadata: { name: "unnamed", ...object.metadata } } as KubeObject;
  return healthOf(named, { readiness: { mode: "Default" }, stateAgeMs: 3_600_000 }).state;
}

describe.skipIf(!isPresent)(
  "the health rules on objects no one here wrote (fixtures not present: skipped)",
  () => {
    test("know a verdict for every file", () => {
      expect(readdirSync(fixtures).toSorted()).toEqual(Object.keys(theirs).toSorted());
    });

    test.each(Object.keys(theirs))("%s", (file) => {
      expect(judge(file)).toBe(differences[file] ?? ourTerm[theirs[file] ?? "none"]);
    });

    test.each(Object.entries(differences))("%s is a difference", (file, ours) => {
      expect(ours).not.toBe(ourTerm[theirs[file] ?? "none"]);
    });
  },
);

test("the reference lists exactly the differences", () => {
  const page = readFileSync(join(repository, "docs/reference/health.md"), "utf8");
  const rows = [...page.matchAll(/^\| `(?<file>[\w-]+\.yaml)` \| \w+ \| (?<ours>\w+) \|/gm)];
  const listed = Object.fromEntries(
    rows.map((row) => [String(row.groups?.["file"]), String(row.groups?.["ours"])]),
  );
  expect(listed).toEqual(differences);
});
