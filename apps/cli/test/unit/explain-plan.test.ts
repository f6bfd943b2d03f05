import type { InstallPlan } from "@quartermaster/api";
import { describe, expect, test } from "vitest";

import { explainPlan, explanationText } from "../../src/render/explain-plan.ts";
import { aCondition, aPlan } from "../support/plans.ts";
import { creating } from "../support/previews.ts";

interface Row {
  readonly name: string;
  readonly given: InstallPlan;
  readonly because: readonly string[];
  readonly remedies: readonly string[];
}

const web = { apiVersion: "apps/v1", kind: "Deployment", namespace: "shop", name: "web" };
const preview = creating("abc", 1);

describe("a plan is explained", () => {
  test.each<Row>([
    {
      name: "that no one has looked at",
      given: aPlan(),
      because: ["no operator has written a status yet"],
      remedies: ["check that the operator is running and watches this namespace"],
    },
    {
      name: "that is ready",
      given: aPlan({
        phase: "Installed",
        observedGeneration: 1,
        conditions: [aCondition("Ready", "True", "Settled")],
      }),
      because: ["everything is installed and ready"],
      remedies: [],
    },
    {
      name: "[first-use/7] that is ready, and names a plan that does not exist",
      given: aPlan({
        phase: "Installed",
        observedGeneration: 1,
        conditions: [aCondition("Ready", "True", "Settled"), aCondition("Validated", "True", "NotReplaced")],
      }),
      because: ["NotReplaced: NotReplaced it is."],
      remedies: [
        "if the name is misspelled, apply a new plan that names the right one; otherwise do nothing",
      ],
    },
    {
      name: "that is paused and changed",
      given: aPlan({ phase: "Applying", observedGeneration: 0 }, { paused: true }),
      because: [
        "the status is older than the spec; the operator has not observed the change yet",
        "the plan is paused: nothing is written",
      ],
      remedies: [`kubectl patch installplan web -n shop --type=merge -p '{"spec":{"paused":false}}'`],
    },
    {
      name: "that waits for approval",
      given: aPlan({ phase: "AwaitingApproval", preview }, { approval: "Manual" }),
      because: ["the plan is waiting for approval"],
      remedies: ["qm plan diff web -n shop", "qm plan approve web -n shop"],
    },
    {
      name: "that was approved before the cluster changed",
      given: aPlan(
        {
          phase: "AwaitingApproval",
          preview,
          conditions: [aCondition("Approved", "False", "AwaitingApproval")],
        },
        { approval: "Manual", approved: true, approvedPreview: "old" },
      ),
      because: ["the plan is waiting for approval"],
      remedies: ["qm plan diff web -n shop", "qm plan approve web -n shop"],
    },
    {
      name: "[first-use/16] that collides: what keeps the object comes first",
      given: aPlan(
        { phase: "Invalid", preview, conditions: [aCondition("Validated", "False", "Collision")] },
        { approval: "Manual" },
      ),
      because: ["Collision: Collision it is."],
      remedies: [
        "to keep the object, set lifecycle.adoption in a new plan, which takes it over. Or rename or delete it yourself; the plan continues automatically",
      ],
    },
    {
      name: "[first-use/5] in a namespace that has not opted in",
      given: aPlan({ phase: "Forbidden", conditions: [aCondition("Authorized", "False", "NotOptedIn")] }),
      because: ["NotOptedIn: NotOptedIn it is."],
      remedies: ["run the command in the message; the plan continues automatically"],
    },
    {
      name: "that lacks a kind which another client may bring",
      given: aPlan({ phase: "Invalid", conditions: [aCondition("Validated", "False", "KindMissing")] }),
      because: ["KindMissing: KindMissing it is."],
      remedies: [
        "install the CustomResourceDefinition of the kind, and the plan continues automatically; or correct apiVersion and kind in a new plan",
      ],
    },
    {
      name: "that lacks permissions, every one of them",
      given: aPlan({
        phase: "Forbidden",
        conditions: [aCondition("Authorized", "False", "PermissionsMissing")],
        permissions: {
          missing: [
            { verb: "create", group: "", resource: "configmaps", namespace: "shop" },
            { verb: "bind", group: "rbac.authorization.k8s.io", resource: "clusterroles", name: "admin" },
          ],
        },
      }),
      because: [
        "PermissionsMissing: PermissionsMissing it is.",
        "service account shop:installer may not create configmaps in shop",
        "service account shop:installer may not bind clusterroles.rbac.authorization.k8s.io admin",
      ],
      remedies: ["grant the service account what is missing; the plan continues automatically"],
    },
    {
      name: "whose account is missing, told once though two conditions say it",
      given: aPlan({
        phase: "Forbidden",
        conditions: [
          aCondition("Authorized", "False", "ServiceAccountMissing"),
          aCondition("Ready", "False", "ServiceAccountMissing"),
        ],
      }),
      because: ["ServiceAccountMissing: ServiceAccountMissing it is."],
      remedies: ["create the service account; the plan continues automatically"],
    },
    {
      name: "whose job failed",
      given: aPlan({
        phase: "Failed",
        conditions: [aCondition("Stalled", "True", "JobFailed")],
        jobs: [
          {
            stage: "config",
            name: "migrate",
            jobName: "web-config-migrate-1",
            attempt: 1,
            state: "Failed",
            message: "exit 1",
          },
        ],
      }),
      because: ["JobFailed: JobFailed it is.", "job migrate of stage config: Failed, exit 1"],
      remedies: [
        "kubectl logs -n shop job/web-config-migrate-1",
        "fix the cause, then run qm plan retry web -n shop",
      ],
    },
    {
      name: "whose objects are missing",
      given: aPlan({
        phase: "Installed",
        details: [
          { stage: "workloads", index: 0, object: web, state: "Missing", reason: "Deleted" },
          { stage: "workloads", index: 0, object: { ...web, name: "api" }, state: "Missing" },
        ],
      }),
      because: ["Deployment shop/web is Missing: Deleted", "Deployment shop/api is Missing"],
      remedies: ["lifecycle.recreate: true recreates deleted objects"],
    },
    {
      name: "that cannot be deleted",
      given: aPlan({
        phase: "Deleting",
        conditions: [aCondition("DeletionBlocked", "True", "FinalizersLeft")],
        deletion: { remaining: 1, blockedBy: [{ object: web, finalizers: ["example.com/hold"] }] },
      }),
      because: [
        "FinalizersLeft: FinalizersLeft it is.",
        "Deployment shop/web still exists, held by example.com/hold",
      ],
      remedies: [
        "check why the controllers of these finalizers do not finish; spec.deletion.onTimeout: Orphan stops waiting",
      ],
    },
    {
      name: "that was replaced",
      given: aPlan({ phase: "Superseded", replacedBy: { name: "web-2", uid: "u", state: "Done" } }),
      because: ["plan web-2 has taken over from it"],
      remedies: ["qm plan status web-2 -n shop"],
    },
    {
      name: "that says nothing but its message",
      given: aPlan({ phase: "Validating", message: "Asking the server." }),
      because: ["Asking the server."],
      remedies: [],
    },
  ])("$name", ({ given, because, remedies }) => {
    expect(explainPlan(given)).toEqual({
      phase: given.status?.phase ?? "not observed yet",
      because,
      remedies,
    });
  });

  test("lists ten objects and counts the rest", () => {
    const details = Array.from({ length: 12 }, (_, index) => ({
      stage: "config",
      index,
      object: { ...web, name: `w${index}` },
      state: "Failed" as const,
    }));
    expect(explainPlan(aPlan({ details })).because.slice(-2)).toEqual([
      "Deployment shop/w9 is Failed",
      "and 2 more objects; run qm plan status to list them",
    ]);
  });

  test("as text", () => {
    const plan = aPlan();
    expect(explanationText(plan, explainPlan(plan)).split("\n")).toEqual([
      "InstallPlan shop/web is not observed yet",
      "",
      "Because:",
      "  - no operator has written a status yet",
      "",
      "What to do:",
      "  - check that the operator is running and watches this namespace",
    ]);
  });
});
