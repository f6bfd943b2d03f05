import { installPlan } from "@quartermaster/api";
import type { Context, KubeObject } from "@quartermaster/runtime";
import { validatingAdmissionPolicies, validatingAdmissionPolicyBindings } from "@quartermaster/runtime/kinds";
import { RecordedApi } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { asAccount, readAccount } from "../../../src/account/account.ts";
import { aPlan } from "../../support/plans.ts";

const at = "2026-01-01T00:00:00Z";
const author = {
  "install.quartermaster.dev/author": "eve",
  "install.quartermaster.dev/author-groups": '["ops"]',
};
const trusted = { "install.quartermaster.dev/trust": "u-new" };
const policyName = "quartermaster-installplan-confirmations";
const guard: readonly KubeObject[] = [
  {
    apiVersion: "v1",
    kind: "ValidatingAdmissionPolicy",
    metadata: { name: policyName },
    spec: { failurePolicy: "Fail" },
  },
  {
    apiVersion: "v1",
    kind: "ValidatingAdmissionPolicyBinding",
    metadata: { name: "any" },
    spec: { policyName, validationActions: ["Deny"] },
  },
] as unknown as readonly KubeObject[];

interface Given {
  readonly annotations?: object;
  readonly pinned?: string;
  readonly isThere?: boolean;
  readonly mayImpersonate?: boolean;
  readonly requireAuthor?: boolean;
  readonly isGuarded?: boolean;
}

async function read({
  annotations = {},
  pinned,
  isThere = true,
  mayImpersonate = true,
  requireAuthor = false,
  isGuarded = true,
}: Given) {
  const api = new RecordedApi();
  const reviewed: unknown[] = [];
  api.respondRaw = (_path, body) => {
    reviewed.push(body);
    return { status: { allowed: mayImpersonate } };
  };
  const kinds = [validatingAdmissionPolicies, validatingAdmissionPolicyBindings];
  const ctx = {
    client: api.client,
    follow: () => (isThere ? { metadata: { uid: "u-new" } } : undefined),
    store: (kind: (typeof kinds)[number]) => ({
      list: () => (isGuarded ? guard.filter((each) => each.kind === kind.kind) : []),
    }),
  } as unknown as Context;
  const status = { startedAt: at, ...(pinned === undefined ? {} : { serviceAccountUid: pinned }) };
  const account = await readAccount(aPlan("p", { metadata: { annotations }, status }), ctx, {
    requireAuthor,
  });
  return { account, reviewed };
}

describe("the account of a plan", () => {
  test.each<{ readonly name: string; readonly given: Given; readonly want: object }>([
    { name: "is the one that is there", given: {}, want: { kind: "present", uid: "u-new" } },
    { name: "is the one that was pinned", given: { pinned: "u-new" }, want: { kind: "present" } },
    { name: "is missing", given: { isThere: false, pinned: "u-old" }, want: { kind: "missing" } },
    { name: "was made again", given: { pinned: "u-old" }, want: { kind: "replaced", uid: "u-new" } },
    {
      name: "was made again, and is trusted",
      given: { pinned: "u-old", annotations: trusted },
      want: { kind: "present", uid: "u-new" },
    },
    {
      name: "was made again, and trust is guarded by no policy",
      given: { pinned: "u-old", annotations: trusted, isGuarded: false },
      want: { kind: "replaced", isUnguarded: true },
    },
    { name: "is at its author's disposal", given: { annotations: author }, want: { kind: "present" } },
    {
      name: "is no longer at its author's disposal",
      given: { annotations: author, mayImpersonate: false },
      want: { kind: "authorUnauthorized", author: "eve" },
    },
    {
      name: "belongs to an author whose groups cannot be read",
      given: { annotations: { ...author, "install.quartermaster.dev/author-groups": "ops" } },
      want: { kind: "authorUnknown", isRecorded: true },
    },
    {
      name: "belongs to no recorded author although one is required",
      given: { requireAuthor: true },
      want: { kind: "authorUnknown", isRecorded: false },
    },
  ])("$name", async ({ given, want }) => {
    expect((await read(given)).account).toMatchObject(want);
  });

  test("is reviewed for its author with all groups, as the one account of the plan's namespace", async () => {
    const { reviewed } = await read({ annotations: author });
    expect(reviewed).toMatchObject([
      {
        spec: {
          user: "eve",
          groups: ["ops"],
          resourceAttributes: { verb: "impersonate", namespace: "ns", name: "installer" },
        },
      },
    ]);
  });

  test.each(["ns", "other"])("is that of namespace %s in every write", async (namespace) => {
    const api = new RecordedApi();
    const plan = aPlan("p", { metadata: { namespace } });
    await asAccount(api.client, plan).create(installPlan.kind, plan);
    expect(api.writes.map(({ user }) => user)).toEqual([`system:serviceaccount:${namespace}:installer`]);
  });
});
