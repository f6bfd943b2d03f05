import { globSync, readFileSync } from "node:fs";
import { resolve } from "node:path";

import { describe, expect, test } from "vitest";
import { z } from "zod";

const root = resolve(import.meta.dirname, "../..");
const versions = z.record(z.string(), z.string()).default({});
const manifest = z.object({
  name: z.string(),
  dependencies: versions,
  devDependencies: versions,
  optionalDependencies: versions,
});
const locked = z.object({
  version: z.string().optional(),
  link: z.boolean().default(false),
  dev: z.boolean().default(false),
  devOptional: z.boolean().default(false),
  integrity: z.string().optional(),
  hasInstallScript: z.boolean().default(false),
});
const lockFile = z.object({ packages: z.record(z.string(), locked) });

function read<T>(file: string, shape: z.ZodType<T>): T {
  return shape.parse(JSON.parse(readFileSync(resolve(root, file), "utf8")));
}

const manifests = globSync("{package.json,{packages,apps}/*/package.json,tools/package.json}", {
  cwd: root,
}).map((file) => read(file, manifest));
const lock = Object.entries(read("package-lock.json", lockFile).packages).map(([path, entry]) => ({
  ...entry,
  path,
  name: path.replace(/^.*node_modules\//, ""),
}));
const isOurs = (name: string): boolean => name.startsWith("@quartermaster/");

/** What reaches a cluster: dependencies of the operator, of our packages that it uses, and so on. */
function operatorDependencies(): readonly string[] {
  const reached = new Set<string>();
  const visit = (name: string): void => {
    for (const next of Object.keys(manifests.find((found) => found.name === name)?.dependencies ?? {})) {
      if (reached.has(next)) continue;
      reached.add(next);
      if (isOurs(next)) visit(next);
    }
  };
  visit("@quartermaster/operator");
  return [...reached].filter((name) => !isOurs(name)).toSorted();
}

describe("dependencies", () => {
  test("[security/87] of the operator have a line each in decision 0005", () => {
    const decisions = globSync("docs/decisions/0005-*.md", { cwd: root }).map((file) =>
      readFileSync(resolve(root, file), "utf8"),
    );
    expect(operatorDependencies().filter((name) => !decisions.join("").includes(name))).toEqual([]);
  });

  test("[security/87] are pinned to one version each", () => {
    const all = manifests.flatMap(({ dependencies, devDependencies, optionalDependencies }) =>
      Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies }),
    );
    expect(all.filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
    expect(
      lock.filter(
        ({ path, link, integrity }) => path.includes("node_modules/") && !link && integrity === undefined,
      ),
    ).toEqual([]);
  });

  test("[security/87] that reach a user have no install script that matters", () => {
    const scripted = lock.filter(
      ({ hasInstallScript, dev, devOptional }) => hasInstallScript && !dev && !devOptional,
    );
    // It prints a warning about version ranges, comes with @grpc/grpc-js, and is never called: docs/decisions/0031-our-own-share-driver.md.
    expect(scripted.map(({ name }) => name)).toEqual(["protobufjs"]);
    // Those of our tools do not run either.
    expect(readFileSync(resolve(root, ".npmrc"), "utf8")).toMatch(/^ignore-scripts=true$/m);
  });

  test.each([
    { name: "js-yaml", atLeast: "4.1.1", why: "CVE-2025-64718" },
    { name: "yaml", atLeast: "2.8.3", why: "CVE-2026-33532" },
    { name: "fast-json-patch", atLeast: "3.1.1", why: "CVE-2021-4279" },
    { name: "jsondiffpatch", atLeast: "0.7.6", why: "CVE-2026-8657" },
  ])("[security/87] $name is not there, or has no $why", ({ name, atLeast }) => {
    const found = lock.filter((entry) => entry.name === name).map(({ version = "" }) => version);
    expect(found.filter((version) => version.localeCompare(atLeast, "en", { numeric: true }) < 0)).toEqual(
      [],
    );
  });
});
