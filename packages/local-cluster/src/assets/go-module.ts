import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";

import { compareDottedVersions } from "@quartermaster/runtime/versions";

import { LocalClusterError } from "../errors.ts";
import { type Component, PROJECT_MODULES, type ProjectName } from "./component.ts";

/** One of the Go modules below `go/`: the locked recipe of a project. */
export interface GoModule {
  readonly project: ProjectName;
  readonly directory: string;
  /** Version of the project, with its "v": `v1.36.3`. */
  readonly version: string;
  /** The Go release it needs at least: `1.26.0`. */
  readonly goVersion: string;
  /** Hash of go.mod, go.sum and the Go files beside them, in hex. */
  readonly lockHash: string;
}

/** Reads the module in `directory`. Versions stand in its go.mod and nowhere else. */
export async function readGoModule(project: ProjectName, directory: string): Promise<GoModule> {
  const goMod = await readFile(join(directory, "go.mod"), "utf8");
  const goSum = await readFile(join(directory, "go.sum"), "utf8");
  const { version, goVersion } = parseGoMod(goMod, PROJECT_MODULES[project]);
  if (version === undefined || goVersion === undefined) {
    throw new Error(
      `go.mod in ${basename(directory)} states no version of ${PROJECT_MODULES[project]}, or none of go`,
    );
  }
  const hash = createHash("sha256").update(goMod).update("\0").update(goSum);
  const programs = (await readdir(directory)).filter((name) => name.endsWith(".go"));
  for (const name of programs.toSorted()) hash.update("\0").update(await readFile(join(directory, name)));
  return { project, directory, version, goVersion, lockHash: hash.digest("hex") };
}

/** Finds the required version of `modulePath` and the `go` line in the text of a go.mod. */
export function parseGoMod(
  text: string,
  modulePath: string,
): { readonly version: string | undefined; readonly goVersion: string | undefined } {
  const lines = text.split("\n").map((line) => line.replace(/\/\/.*$/, "").trim());
  const requirement = lines
    .map((line) => line.replace(/^require\s+/, "").split(/\s+/))
    .find(
      ([path, version, ...rest]) =>
        path === modulePath && version?.startsWith("v") === true && rest.length === 0,
    );
  const goLine = lines.find((line) => /^go\s+\d/.test(line));
  return { version: requirement?.[1], goVersion: goLine?.split(/\s+/)[1] };
}

/** The Kubernetes modules below `goFolder`, newest minor first; the first one is the default. */
export async function readKubernetesModules(goDirectory: string): Promise<readonly GoModule[]> {
  const directories = (await readdir(goDirectory)).filter((name) => /^kubernetes-\d+\.\d+$/.test(name));
  const modules = await Promise.all(
    directories.map(async (name) => await readGoModule("kubernetes", join(goDirectory, name))),
  );
  return modules.toSorted((a, b) => compareDottedVersions(b.version, a.version));
}

/**
 * Picks the module for what a user requested: `1.35`, `1.35.4` or `v1.35.4`; nothing means the newest.
 * Throws `UnsupportedVersion`, naming what there is.
 */
export function chooseKubernetes(modules: readonly GoModule[], wanted: string | undefined): GoModule {
  const requested = wanted?.trim().replace(/^v/, "");
  const chosen = modules.find(
    ({ version }) =>
      requested === undefined || requested === version.slice(1) || requested === minorOf(version),
  );
  if (chosen !== undefined) return chosen;
  const offers = modules.map(({ version }) => `${minorOf(version)} (${version})`).join(", ");
  throw new LocalClusterError(
    "UnsupportedVersion",
    `Kubernetes "${wanted ?? ""}" is not supported.`,
    `Choose one of ${offers}.`,
  );
}

/** `1.36` for `v1.36.3`. */
export function minorOf(version: string): string {
  return version.replace(/^v/, "").split(".").slice(0, 2).join(".");
}

/** A component, the module that makes it and the directory of the cache it belongs into. */
export interface Asset {
  readonly component: Component;
  readonly module: GoModule;
  readonly directory: string;
}
