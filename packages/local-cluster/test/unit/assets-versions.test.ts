import { join } from "node:path";

import { describe, expect, test } from "vitest";

import {
  chooseKubernetes,
  type GoModule,
  parseGoMod,
  readKubernetesModules,
} from "../../src/assets/go-module.ts";
import { LocalClusterError } from "../../src/errors.ts";

const ownModules = join(import.meta.dirname, "..", "..", "go");

describe("chooseKubernetes", () => {
  const modules = ["v1.36.3", "v1.35.4", "v1.34.4"].map(moduleOf);

  const accepted: readonly {
    readonly name: string;
    readonly given: string | undefined;
    readonly want: string;
  }[] = [
    { name: "takes the newest when nothing is requested", given: undefined, want: "v1.36.3" },
    { name: "takes a minor", given: "1.35", want: "v1.35.4" },
    { name: "takes a minor with a v", given: "v1.34", want: "v1.34.4" },
    { name: "takes an exact version", given: "1.35.4", want: "v1.35.4" },
    { name: "takes an exact version with a v and blanks", given: " v1.36.3 ", want: "v1.36.3" },
  ];
  test.each(accepted)("$name", ({ given, want }) => {
    expect(chooseKubernetes(modules, given).version).toBe(want);
  });

  const refused = ["1.33", "1.36.2", "1", "", "latest", "1.3", "2.36.3"];
  test.each(refused)('refuses "%s" and names what there is', (given) => {
    const error = errorOf(() => chooseKubernetes(modules, given));
    expect(error.code).toBe("UnsupportedVersion");
    expect(error.message).toBe(
      `Kubernetes "${given}" is not supported. Choose one of 1.36 (v1.36.3), 1.35 (v1.35.4), 1.34 (v1.34.4).`,
    );
  });
});

test("the package brings three successive minors, the newest first, each in the directory of its name", async () => {
  const modules = await readKubernetesModules(ownModules);
  const minors = modules.map(({ version }) => Number(version.split(".")[1]));
  const newest = minors[0] ?? 0;
  expect(minors).toEqual([newest, newest - 1, newest - 2]);
  for (const { directory, version } of modules)
    expect(version).toContain(directory.slice(directory.lastIndexOf("-") + 1));
});

describe("parseGoMod", () => {
  const cases = [
    {
      name: "a require line",
      given: "go 1.26.0\nrequire a.b/c v1.2.3\n",
      want: { version: "v1.2.3", goVersion: "1.26.0" },
    },
    {
      name: "a require block with a comment",
      given: "go 1.26\n\nrequire (\n\ta.b/c v1.2.3 // indirect\n)\n",
      want: { version: "v1.2.3", goVersion: "1.26" },
    },
    {
      name: "not a replacement",
      given: "go 1.26\nreplace a.b/c => a.b/c v9.9.9\n",
      want: { version: undefined, goVersion: "1.26" },
    },
    {
      name: "not a longer path",
      given: "go 1.26\nrequire a.b/c/v2 v2.0.0\n",
      want: { version: undefined, goVersion: "1.26" },
    },
    {
      name: "not the module's own name",
      given: "module a.b/c\n",
      want: { version: undefined, goVersion: undefined },
    },
    {
      name: "not a comment",
      given: "// require a.b/c v1.2.3\ngo 1.26\n",
      want: { version: undefined, goVersion: "1.26" },
    },
  ];
  test.each(cases)("reads $name", ({ given, want }) => {
    expect(parseGoMod(given, "a.b/c")).toEqual(want);
  });
});

function moduleOf(version: string): GoModule {
  return { project: "kubernetes", directory: "/nowhere", version, goVersion: "1.26.0", lockHash: "00" };
}

function errorOf(action: () => unknown): LocalClusterError {
  try {
    action();
  } catch (error) {
    if (error instanceof LocalClusterError) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}
