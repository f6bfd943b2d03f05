import { readFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";

import { type } from "../support/user.ts";

const samples = join(import.meta.dirname, "../../../../config/samples");

function aConfigMap(name: string): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: ${name} }\ndata: { answer: "no" }\n`;
}

describe("plans in files", () => {
  test("what pack writes is valid and can be explained", async () => {
    const { out: input } = await type(["pack", "-", "--name", "shop"], { input: aConfigMap("a") });
    expect(await type(["plan", "validate", "-"], { input })).toMatchObject({
      code: 0,
      out: "documents: 1, all valid",
    });
    const { code, out } = await type(["plan", "explain", "-f", "-"], { input });
    expect(code).toBe(3);
    expect(out).toContain("no operator has written a status yet");
  });

  test("explain does not choose among several plans of a file", async () => {
    const write = async (name: string): Promise<string> =>
      (await type(["pack", "-", "--name", name], { input: aConfigMap("a") })).out;
    const input = `${await write("one")}\n---\n${await write("two")}`;
    const { code, out, err } = await type(["plan", "explain", "-f", "-"], { input });
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toContain("several InstallPlans in it: one, two;");
  });

  test("faults of the plan, its objects and its expressions are reported with their place", async () => {
    const plan = (resource: string): string =>
      `apiVersion: install.quartermaster.dev/v1alpha1\nkind: InstallPlan\nmetadata: { name: a }\nspec:\n  serviceAccountName: installer\n  stages:\n    - name: one\n      resources:\n        - ${resource}\n`;
    const object = "manifest: { apiVersion: v1, kind: ConfigMap, metadata: { name: a, uid: b } }";
    const checks = "readiness: { mode: Checks, checks: [{ cel: { expression: object.x } }] }";
    const input = [plan(`{ ${object}, ${checks} }`), plan("{ nonsense: 1 }")].join("---\n");
    const { code, out } = await type(["plan", "validate", "-"], { input });
    expect(code).toBe(1);
    expect(out.split("\n")).toEqual([
      "standard input, document 1: stage one, resource 0: metadata.uid is set by the API server; remove it",
      "standard input, document 1: stage one, resource 0: there is no object; the object is called self",
      expect.stringMatching(/^standard input, document 2: spec\.stages\.0\.resources\.0.*nonsense/),
    ]);
  });

  test.each(["adopt", "greeting", "manual-approval", "replace", "with-manifests"])(
    "the sample %s is fine, whatever stands beside the plan",
    async (name) => {
      expect(await type(["plan", "validate", join(samples, `${name}.yaml`)])).toMatchObject({
        code: 0,
        out: expect.stringMatching(/^documents: \d, all valid/) as string,
      });
    },
  );

  test("everything that pack writes is fine, manifests and Secrets too", async () => {
    const secret = "apiVersion: v1\nkind: Secret\nmetadata: { name: s }\ndata: { a: aHVudGVyMg== }\n";
    const large = `${aConfigMap("large")}binaryData: { a: ${"x".repeat(300_000)} }\n`;
    const args = ["pack", "-", "--name", "shop", "--secrets", "secretRef"];
    for (const format of ["yaml", "json"]) {
      const { out } = await type([...args, "-o", format], { input: `${secret}---\n${large}` });
      expect(await type(["plan", "validate", "-"], { input: out })).toMatchObject({
        code: 0,
        out: "documents: 3, all valid; not checked (other kinds): 1",
      });
    }
  });

  test("a List, as kubectl writes it, is taken apart", async () => {
    const page = readFileSync(join(samples, "greeting.yaml"), "utf8");
    const items = parseAllDocuments(page).map((document) => document.toJS() as unknown);
    const input = JSON.stringify({ apiVersion: "v1", kind: "List", items });
    expect((await type(["plan", "validate", "-"], { input })).code).toBe(0);
    const { code, out, err } = await type(["plan", "explain", "-f", "-"], { input });
    expect({ code, err }).toEqual({ code: 3, err: "" });
    expect(out).toContain("InstallPlan greeting/greeting-1 is not observed yet");
  });

  test.each([
    { name: "nothing", input: "", want: "no InstallPlan found" },
    { name: "no plan", input: aConfigMap("a"), want: "no InstallPlan found" },
    {
      name: "a plan of the wrong name",
      input: aPlan({ name: "My Shop" }),
      want: /metadata\.name must be a DNS subdomain/,
    },
    {
      name: "two stages of one name",
      input: aPlan({ stages: [{ name: "one" }, { name: "one" }] }),
      want: /spec\.stages: duplicate stage one/,
    },
    {
      name: "a job that is none",
      input: aPlan({ stages: [{ name: "one", jobs: [{ name: "ask", template: {} }] }] }),
      want: /job ask of stage one: template\.spec is required/,
    },
    {
      name: "copies that differ",
      input: aPlan({ stages: [{ name: "one", resources: [anObject("1"), anObject("2")] }] }),
      want: /ConfigMap .*a/,
    },
    {
      name: "a kind of ours that there is not",
      input: "apiVersion: install.quartermaster.dev/v1alpha1\nkind: InstalPlan\nmetadata: { name: a }\n",
      want: /kind: Invalid input: expected "InstallPlan"/,
    },
  ])("$name is reported", async ({ input, want }) => {
    const { code, out } = await type(["plan", "validate", "-"], { input });
    expect(code).toBe(1);
    expect(out).toMatch(want);
  });
});

function anObject(value: string): object {
  return { manifest: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { value } } };
}

function aPlan({ name = "a", stages = [{ name: "one" }] }: { name?: string; stages?: object[] }): string {
  return JSON.stringify({
    apiVersion: "install.quartermaster.dev/v1alpha1",
    kind: "InstallPlan",
    metadata: { name },
    spec: { serviceAccountName: "installer", stages },
  });
}
