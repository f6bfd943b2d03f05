import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";

import { type } from "../support/user.ts";

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "qm-cli-"));
  await mkdir(join(directory, "shop"));
  await mkdir(join(directory, "empty"));
  await writeFile(join(directory, "shop/b.yaml"), aConfigMap("b"));
  await writeFile(join(directory, "shop/a.json"), JSON.stringify(parse(aConfigMap("a"))));
  await writeFile(join(directory, "shop/readme.md"), "not a manifest");
  await writeFile(
    join(directory, "bad.yaml"),
    `${aConfigMap("a")}---\nkind: [\n---\n${aConfigMap("Bad Name")}`,
  );
});

afterAll(async () => {
  await rm(directory, { recursive: true });
});

function aConfigMap(name: string): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: ${name} }\ndata: { answer: "no" }\n`;
}

describe("a command line that is wrong", () => {
  test.each([
    { name: "unknown command", given: ["dance"], want: "unknown command dance; see qm help" },
    {
      name: "a slip",
      given: ["plan", "stauts"],
      want: "unknown command plan stauts; did you mean qm plan status?",
    },
    {
      name: "a slip with operands",
      given: ["paln", "diff", "web"],
      want: "unknown command paln diff; did you mean qm plan diff?",
    },
    {
      name: "a slip of one word",
      given: ["pakc", "-"],
      want: "unknown command pakc -; did you mean qm pack?",
    },
    { name: "half a command", given: ["plan"], want: "plan requires a subcommand: plan diff, plan status" },
    {
      name: "an option before the command",
      given: ["-n", "shop", "plan", "status", "web"],
      want: "-n: flags must follow the command",
    },
    { name: "help on what is not there", given: ["help", "dance"], want: "unknown command dance" },
    { name: "too many words", given: ["version", "now"], want: "version takes no arguments; unexpected now" },
    { name: "unknown option", given: ["version", "--loud"], want: "Unknown option '--loud'" },
    { name: "unknown format", given: ["version", "-o", "xml"], want: "--output must be text, json or yaml" },
    {
      name: "pack without files",
      given: ["pack", "--name", "a"],
      want: "specify a file, a directory or - for standard input",
    },
    { name: "pack without a name", given: ["pack", "-"], want: "required flag --name not set" },
    {
      name: "pack with a strange stage",
      given: ["pack", "-", "--name", "a", "--stage", "late"],
      want: "--stage late: must be <stage>=",
    },
    {
      name: "pack with a strange place for secrets",
      given: ["pack", "-", "--name", "a", "--secrets", "vault"],
      want: "--secrets must be inline or secretRef",
    },
    {
      name: "pack with a name that is none",
      given: ["pack", "-", "--name", "My Shop"],
      want: "--name My Shop: must be a DNS subdomain",
    },
    {
      name: "pack with a stage that cannot be called so",
      given: ["pack", "-", "--name", "a", "--stage", "La te=Secret"],
      want: "--stage La te: must be a DNS label",
    },
    {
      name: "pack with an account that is none",
      given: ["pack", "-", "--name", "a", "--service-account", "kube-system/x"],
      want: "--service-account kube-system/x: must be a DNS label",
    },
    {
      name: "pack with a namespace that is none",
      given: ["pack", "-", "--name", "a", "-n", "../b"],
      want: "--namespace ../b: must be a DNS label",
    },
    {
      name: "pack of a plan that replaces itself",
      given: ["pack", "-", "--name", "a", "--replaces", "a"],
      want: "--replaces a: a plan cannot replace itself",
    },
    {
      name: "pack with a strange scope",
      given: ["pack", "-", "--name", "a", "--scope", "cluster"],
      want: "--scope must be Namespace or Cluster",
    },
    {
      name: "a timeout that is no number",
      given: ["plan", "status", "web", "--timeout", "soon"],
      want: "--timeout must be a number of seconds",
    },
    {
      name: "explain of a plan and a file",
      given: ["plan", "explain", "web", "-f", "-"],
      want: "specify a plan or --file, not both",
    },
  ])("ends with 2: $name", async ({ given, want }) => {
    const { code, out, err } = await type(given);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain(`error: ${want}`);
  });
});

describe("what is not there", () => {
  test.each([
    {
      name: "a file",
      given: ["pack", "/nowhere/x.yaml", "--name", "a"],
      want: "/nowhere/x.yaml: cannot be read; check the path (ENOENT)",
    },
    { name: "a cluster", given: ["plan", "status", "web"], want: "no kubeconfig found" },
  ])("ends with 4: $name", async ({ given, want }) => {
    const { code, err } = await type(given);
    expect(code).toBe(4);
    expect(err).toContain(want);
  });

  test("a directory without manifests ends with 4", async () => {
    const { code, err } = await type(["pack", join(directory, "empty"), "--name", "a"]);
    expect(code).toBe(4);
    expect(err).toContain("no .yaml, .yml or .json files found");
  });
});

describe("help and version", () => {
  test.each([[[]], [["help"]], [["--help"]]])("%j lists the commands", async (args) => {
    const { code, out } = await type(args);
    expect(code).toBe(0);
    expect(out).toMatch(/ {2}plan status {2,}show the stages/);
  });

  test.each([[["help", "plan", "status"]], [["plan", "status", "--help"]]])(
    "%j tells of one command",
    async (args) => {
      const { code, out } = await type(args);
      expect(code).toBe(0);
      expect(out).toContain("-w, --watch");
    },
  );

  test.each([[["plan", "--help"]], [["plan", "-h"]], [["help", "plan"]]])(
    "%j lists the commands for plans",
    async (args) => {
      const { code, out } = await type(args);
      expect(code).toBe(0);
      expect(out).toContain("plan rollback");
      expect(out).not.toContain("show the version");
    },
  );

  test("the version comes as a flag too", async () => {
    expect((await type(["--version"])).out).toBe((await type(["version"])).out);
  });

  test("the version comes as JSON too", async () => {
    const { out } = await type(["version", "-o", "json"]);
    expect(JSON.parse(out)).toEqual({ version: expect.stringMatching(/^\d+\.\d+\.\d+/) as string });
  });
});

describe("pack without a cluster", () => {
  test("packs a directory in the order of its names", async () => {
    const { code, out } = await type([
      "pack",
      join(directory, "shop"),
      "--name",
      "shop",
      "-n",
      "store",
      "--service-account",
      "installer",
    ]);
    expect(code).toBe(0);
    expect(parse(out)).toMatchObject({
      kind: "InstallPlan",
      metadata: { name: "shop", namespace: "store" },
      spec: {
        serviceAccountName: "installer",
        scope: "Namespace",
        stages: [
          {
            name: "config",
            resources: [
              { manifest: { metadata: { name: "a" } } },
              { manifest: { metadata: { name: "b" }, data: { answer: "no" } } },
            ],
          },
        ],
      },
    });
  });

  test("packs standard input into a List for kubectl", async () => {
    const { out } = await type(["pack", "-", "--name", "shop", "-o", "json"], { input: aConfigMap("a") });
    expect(JSON.parse(out)).toMatchObject({ kind: "List", items: [{ kind: "InstallPlan" }] });
  });

  test("reports all problems together, with file, document, object and field", async () => {
    const { code, out, err } = await type(["pack", join(directory, "bad.yaml"), "--name", "shop"]);
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err.split("\n")).toEqual([
      expect.stringMatching(/^error: .*bad\.yaml, document 2, line \d+, column \d+: /),
      expect.stringMatching(
        /^error: .*bad\.yaml, document 3: ConfigMap Bad Name: metadata\.name must be a DNS subdomain/,
      ),
    ]);
  });

  test("warns of Secrets in the plan and keeps them out on demand", async () => {
    const input = "apiVersion: v1\nkind: Secret\nmetadata: { name: s }\ndata: { password: aHVudGVyMg== }\n";
    const inline = await type(["pack", "-", "--name", "shop"], { input });
    const apart = await type(["pack", "-", "--name", "shop", "--secrets", "secretRef"], { input });
    expect(inline.err).toContain("warning: Secrets in the plan: 1;");
    expect(apart.err).toBe("");
    expect(apart.out).not.toContain("aHVudGVyMg==");
    expect(apart.out.split("\n---\n").map((text) => (parse(text) as { kind: string }).kind)).toEqual([
      "Secret",
      "ResourceManifest",
      "InstallPlan",
    ]);
  });
});
