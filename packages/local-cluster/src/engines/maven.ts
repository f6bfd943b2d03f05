import { existsSync } from "node:fs";
import { join } from "node:path";

import { runCommand } from "../assets/run-command.ts";
import { LocalClusterError } from "../errors.ts";
import { type System, toolPath } from "../system/system.ts";

/** Pinned: its downloads are part of what is fetched. */
const DEPENDENCY_PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1";

/** Path of an artifact below Maven's local repository, from `group:artifact:version:type`. */
export function artifactPath(coordinates: string): string {
  const [group, artifact, version, type, ...rest] = coordinates.split(":");
  if (
    group === undefined ||
    artifact === undefined ||
    version === undefined ||
    type === undefined ||
    rest.length > 0
  )
    throw new Error(`"${coordinates}" is not group:artifact:version:type`);
  return join(...group.split("."), artifact, version, `${artifact}-${version}.${type}`);
}

/** Who fetches. */
export interface MavenRequest {
  /** Directory for Maven to run in. */
  readonly workplace: string;
  readonly system: System;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Fetches an artifact with this machine's Maven, by its exact version and with its checksum verified, and returns its path in the local
 * repository. The settings are the user's own: mirrors included.
 */
export async function fetchArtifact(coordinates: string, request: MavenRequest): Promise<string> {
  const { workplace, system, signal } = request;
  const path = join(system.homeDirectory, ".m2", "repository", artifactPath(coordinates));
  if (existsSync(path)) return path;
  const args = [
    "--batch-mode",
    "--no-transfer-progress",
    "--quiet",
    "--strict-checksums",
    `${DEPENDENCY_PLUGIN}:get`,
    "-Dtransitive=false",
    `-Dartifact=${coordinates}`,
    `-Dmaven.repo.local=${join(system.homeDirectory, ".m2", "repository")}`,
  ];
  const { code, stdout, stderr } = await runCommand({
    command: "mvn",
    args,
    cwd: workplace,
    env: { ...system.env, PATH: toolPath(system) },
    signal,
  });
  if (code === 0 && existsSync(path)) return path;
  const output = `${stdout}\n${stderr}`.split("\n").filter((line) => line.includes("ERROR"));
  throw new LocalClusterError(
    "AssetsUnavailable",
    `Maven could not fetch ${coordinates} (exit code ${code}): ${output.slice(0, 3).join(" ").slice(0, 500)}.`,
    "Check that this machine reaches Maven Central or a mirror of it (~/.m2/settings.xml), and that the version is there.",
  );
}
