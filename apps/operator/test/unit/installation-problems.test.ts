import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { z } from "zod";

import {
  type Installation,
  installationProblems,
  type Needs,
} from "../../src/installation/installation-problems.ts";
import { requiredPolicies } from "../../src/installation/required-policies.ts";

const repository = join(import.meta.dirname, "../../../..");

const needs: Needs = {
  release: "1.4.0",
  crds: [
    { name: "plans.example.org", isShared: false },
    { name: "shares.example.org", isShared: true },
  ],
  policies: ["author", "status"],
  namespace: "quartermaster",
  isClusterWide: true,
};

type Labels = Readonly<Record<string, string>>;

function labels(version?: string, holder?: string): Labels {
  return {
    ...(version === undefined ? {} : { "quartermaster.dev/api-version": version }),
    ...(holder === undefined ? {} : { "quartermaster.dev/operator-namespace": holder }),
  };
}

const current = labels("1.4.0", "quartermaster");

function found(crds: Readonly<Record<string, Labels>>, more: Partial<Installation> = {}): Installation {
  const names = new Set(needs.policies);
  return { crds: new Map(Object.entries(crds)), policies: names, bindings: names, ...more };
}

const complete = { "plans.example.org": current, "shares.example.org": current };

describe("why the operator must not act", () => {
  test.each<{
    readonly name: string;
    readonly needs?: Partial<Needs>;
    readonly given: Installation;
    readonly says: readonly RegExp[];
  }>([
    { name: "all is there", given: found(complete), says: [] },
    { name: "newer CRDs", given: found({ ...complete, "plans.example.org": labels("1.5.0") }), says: [] },
    {
      name: "a CRD of an older release",
      given: found({ ...complete, "plans.example.org": labels("1.3.9", "quartermaster") }),
      says: [/needs version 1\.4\.0: plans\.example\.org \(1\.3\.9\)\. Run helm upgrade.* or kubectl apply/],
    },
    {
      name: "a CRD from before there were versions",
      given: found({ ...complete, "plans.example.org": {} }),
      says: [/plans\.example\.org \(no version\)/],
    },
    {
      name: "a version that is none",
      given: found({ ...complete, "plans.example.org": labels("latest") }),
      says: [/plans\.example\.org \(latest\)/],
    },
    { name: "another product's CRD", given: found({ ...complete, "shares.example.org": {} }), says: [] },
    {
      name: "a shared CRD of ours that is older",
      given: found({ ...complete, "shares.example.org": labels("1.0.0") }),
      says: [/shares\.example\.org \(1\.0\.0\)/],
    },
    { name: "no shared CRD", given: found({ "plans.example.org": current }), says: [] },
    {
      name: "a missing CRD",
      given: found({ "shares.example.org": current }),
      says: [/are missing: plans\.example\.org\. Run helm upgrade with version 1\.4\.0/],
    },
    {
      name: "CRDs of an operator in another namespace",
      given: found({ ...complete, "plans.example.org": labels("1.4.0", "other") }),
      says: [/operator in namespace other serves this cluster, and this one runs in namespace quartermaster/],
    },
    {
      name: "an operator outside the cluster beside one inside",
      needs: { namespace: undefined },
      given: found(complete),
      says: [
        /operator in namespace quartermaster serves this cluster, and this one runs outside the cluster/,
      ],
    },
    {
      name: "an operator for one namespace beside the one of the cluster",
      needs: { namespace: undefined, isClusterWide: false },
      given: found(complete),
      says: [],
    },
    {
      name: "CRDs that name no operator",
      needs: { namespace: undefined },
      given: found({ "plans.example.org": labels("1.4.0") }),
      says: [],
    },
    {
      name: "a missing policy and a missing binding",
      given: found(complete, { policies: new Set(["author"]), bindings: new Set(["status"]) }),
      says: [/missing: binding author, policy status\. .*api\.policies\.enabled=true/],
    },
    {
      name: "policies that are not required",
      needs: { policies: [] },
      given: found(complete, { policies: new Set(), bindings: new Set() }),
      says: [],
    },
    {
      name: "several problems at the same time",
      given: found({ "plans.example.org": labels("1.0.0", "other") }, { bindings: new Set() }),
      says: [/older/, /namespace other/, /binding author, binding status/],
    },
  ])("$name", ({ needs: more, given, says }) => {
    const problems = installationProblems({ ...needs, ...more }, given);
    expect(problems).toEqual(says.map((text) => expect.stringMatching(text) as string));
  });
});

const document = z.object({
  kind: z.string(),
  metadata: z.object({ name: z.string() }),
  spec: z.looseObject({ policyName: z.string().optional() }).optional(),
});

test("each policy that is required has a binding of the same name, as the check expects", () => {
  const directory = join(repository, "config/policy");
  const documents = readdirSync(directory).flatMap((file) =>
    parseAllDocuments(readFileSync(join(directory, file), "utf8")).map((each) => document.parse(each.toJS())),
  );
  const namesOf = (kind: string): readonly string[] =>
    documents
      .filter((each) => each.kind === kind)
      .map(({ metadata }) => metadata.name)
      .toSorted();
  expect(namesOf("ValidatingAdmissionPolicy")).toEqual(requiredPolicies);
  expect(namesOf("ValidatingAdmissionPolicyBinding")).toEqual(requiredPolicies);
});
