import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { rootCertificates } from "node:tls";

import { bundleProgram } from "@quartermaster/tools/bundle";

/** A program of ours that becomes an image. */
export interface ProgramRequest {
  /** Its main module, from the root of the repository. */
  readonly entryPoint: string;
  /** Path in the image, without a leading slash. */
  readonly program: string;
  /** Programs of this machine that it calls; they go to `usr/bin`. */
  readonly tools?: readonly string[];
}

/** How such a program starts. Young objects get 4 MB at a time: docs/decisions/0008. */
export function entrypointOf(program: string): readonly string[] {
  return ["/usr/bin/node", "--max-semi-space-size=4", `/${program}`];
}

/**
 * Writes all files of an image below `root`: this Node, the libraries that it and the tools need, certificates and the program.
 * There is no shell and nothing else to be misused.
 */
export async function writeProgramFiles(
  root: string,
  { entryPoint, program, tools = [] }: ProgramRequest,
): Promise<void> {
  await bundleProgram({ entryPoint: join(repository, entryPoint), outfile: join(root, program) });
  chmodSync(join(root, program), 0o644);
  copyInto(root, { from: process.execPath, path: "usr/bin/node", mode: 0o755 });
  for (const tool of tools) copyInto(root, { from: tool, path: `usr/bin/${basename(tool)}`, mode: 0o755 });
  for (const library of new Set([process.execPath, ...tools].flatMap(librariesOf)))
    copyInto(root, { from: library, path: library.slice(1), mode: 0o755 });
  writeInto(root, "etc/ssl/certs/ca-certificates.crt", `${rootCertificates.join("\n")}\n`);
  writeInto(root, "etc/passwd", "quartermaster:x:65532:65532::/app:/sbin/nologin\n");
  writeInto(root, "etc/group", "quartermaster:x:65532:\n");
  openDirectories(root);
}

const repository = join(import.meta.dirname, "../..");

/** The loader and what it loads, as the loader of this machine finds it. */
function librariesOf(program: string): readonly string[] {
  const lines = execFileSync("ldd", [program], { encoding: "utf8" }).split("\n");
  return lines.flatMap((line) => /^\s+(?:\S+ => )?(\/\S+) \(/.exec(line)?.[1] ?? []).toSorted();
}

interface Copy {
  readonly from: string;
  readonly path: string;
  readonly mode: number;
}

/** Links are followed: a library lies under the name by which it is requested. */
function copyInto(root: string, { from, path, mode }: Copy): void {
  const target = join(root, path);
  mkdirSync(dirname(target), { recursive: true });
  copyFileSync(from, target);
  chmodSync(target, mode);
}

/** The maker's umask may have closed them, and the image's user is not the maker. */
function openDirectories(root: string): void {
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true }))
    if (entry.isDirectory()) chmodSync(join(entry.parentPath, entry.name), 0o755);
}

function writeInto(root: string, path: string, text: string): void {
  const target = join(root, path);
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, text);
  chmodSync(target, 0o644);
}
