import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";

import { compareDottedVersions } from "@quartermaster/runtime/versions";

import { LocalClusterError } from "../errors.ts";
import type { System } from "../system/system.ts";
import type { Component, ComponentName } from "./component.ts";
import { cacheDirectoryFull } from "./errors.ts";
import { type Asset, type GoModule, minorOf } from "./go-module.ts";
import type { Platform } from "./platform.ts";
import { runCommand } from "./run-command.ts";

export interface BuildRequest {
  /** Of this module. Several are built by one call of Go: while one is linked, packages of the next are compiled. */
  readonly components: readonly Component[];
  readonly module: GoModule;
  readonly platform: Platform;
  /** Directory for the result and for Go's temporary files. */
  readonly workplace: string;
  readonly system: System;
  readonly signal: AbortSignal;
}

/** Builds components and returns the paths of the programs by name. Throws `BuildFailed` with the end of Go's output. */
export async function build(request: BuildRequest): Promise<ReadonlyMap<ComponentName, string>> {
  const { components, module, platform, workplace, system, signal } = request;
  const names = components.map(({ name }) => name);
  const temporary = join(workplace, "go-tmp");
  await mkdir(temporary, { recursive: true });
  const packages = components.map(({ goPackage }) => goPackage);
  const args = [
    "build",
    ...buildFlags(module),
    ...COMPILE_FLAGS,
    "-o",
    outputFor(names, workplace),
    ...packages,
  ];
  const env = {
    ...system.env,
    ...BUILD_ENVIRONMENT,
    ...COMPILE_ENVIRONMENT,
    GOOS: platform.os,
    GOARCH: platform.arch,
    GOTMPDIR: temporary,
  };
  const { code, stderr } = await runCommand({ command: "go", args, cwd: module.directory, env, signal });
  if (code === 0) return new Map(names.map((name) => [name, join(workplace, name)]));
  // Go has no exit codes of its own, so its words are all there is to tell a full disk by.
  if (/no space left on device|disk quota exceeded/i.test(stderr))
    throw cacheDirectoryFull(workplace, new Error(lastLines(stderr)));
  throw new LocalClusterError(
    "BuildFailed",
    `Building ${names.join(", ")} ${module.version} failed (go build, exit code ${code}):\n${lastLines(stderr)}\n`,
    "If Go could not fetch modules, check `go env GOPROXY`; else name a directory with the binaries in QM_KUBE_ASSETS.",
  );
}

/** A directory for several: Go names each after the last part of its package then, as Kubernetes' are. */
function outputFor(names: readonly ComponentName[], workplace: string): string {
  const [only, ...others] = names;
  return only !== undefined && others.length === 0 ? join(workplace, only) : `${workplace}/`;
}

const LINES_SHOWN = 15;

function lastLines(text: string): string {
  return text.trimEnd().split("\n").slice(-LINES_SHOWN).join("\n");
}

/** Arguments of `go build` for every program of a module, apart from output and package. They are part of the cache key. */
export function buildFlags(module: GoModule): readonly string[] {
  const stamps = module.project === "kubernetes" ? kubernetesStamps(module.version) : [];
  return ["-mod=readonly", "-trimpath", "-buildvcs=false", "-ldflags", ["-s", "-w", ...stamps].join(" ")];
}

/** Environment of `go build`: no C compiler needed, no workspace or other target of the user's own in the way. */
export const BUILD_ENVIRONMENT: Readonly<Record<string, string>> = {
  CGO_ENABLED: "0",
  GOWORK: "off",
  GO111MODULE: "on",
};

/**
 * More flags, which spare the compiler work and leave the programs the same: debug information would be stripped by the linker. Not
 * part of the cache key. With `COMPILE_ENVIRONMENT`, k8s.io/client-go compiles in 159 s of processor time instead of 194 s.
 */
const COMPILE_FLAGS: readonly string[] = ["-gcflags=all=-dwarf=false"];

/** Compilers are short-lived: collecting less garbage saves time and takes memory for seconds only. */
const COMPILE_ENVIRONMENT: Readonly<Record<string, string>> = { GOGC: "400" };

/** Without these the programs call themselves v0.0.0-master. */
function kubernetesStamps(version: string): readonly string[] {
  const [major = "", minor = ""] = minorOf(version).split(".");
  const values = { gitVersion: version, gitMajor: major, gitMinor: minor, gitTreeState: "clean" };
  return ["k8s.io/component-base/version", "k8s.io/client-go/pkg/version"].flatMap((goPackage) =>
    Object.entries(values).map(([name, value]) => `-X ${goPackage}.${name}=${value}`),
  );
}

/** Why Go cannot build this module here; undefined when it can. */
export async function goProblem(
  module: GoModule,
  system: System,
  signal: AbortSignal,
): Promise<string | undefined> {
  // Run inside the module: a Go that fetches newer toolchains on its own (GOTOOLCHAIN=auto) then reports the newer version.
  const inside = await requestVersion(module.directory, system, signal);
  if (inside === "not found") return "Go is not installed (no `go` on PATH)";
  const found =
    inside ?? (await requestVersion(dirname(module.directory), system, signal)) ?? "of an unknown version";
  if (inside !== undefined && compareDottedVersions(inside, module.goVersion) >= 0) return undefined;
  return `Go ${found.replace(/^go/, "")} is too old, ${module.goVersion} is needed`;
}

const NOT_RUNNABLE: readonly number[] = [126, 127];

async function requestVersion(cwd: string, system: System, signal: AbortSignal): Promise<string | undefined> {
  const env = { ...system.env, ...BUILD_ENVIRONMENT };
  const { code, stdout } = await runCommand({ command: "go", args: ["env", "GOVERSION"], cwd, env, signal });
  if (NOT_RUNNABLE.includes(code)) return "not found";
  return code === 0 ? stdout.trim() : undefined;
}

/** Builds that take less need no announcement: their own line says how long. */
const ANNOUNCED_SECONDS = 120;

/** Before long builds: how long all of them take and why they are needed. Undefined for short ones. */
export function buildAnnouncement(missing: readonly Asset[], reason: string): string | undefined {
  const components = missing.map(({ component }) => component);
  const seconds = buildSeconds(components);
  if (seconds < ANNOUNCED_SECONDS) return undefined;
  const minutes = Math.ceil(seconds / 60);
  return `${components.length} programs are not in the cache and cannot be downloaded (${reason}): building them from source takes about ${minutes} minutes on two cores, once per version`;
}

/** How long it takes to build them on two idle cores with an empty Go cache. */
export function buildSeconds(components: readonly Component[]): number {
  return components.reduce((sum, component) => sum + component.buildSeconds, 0);
}
