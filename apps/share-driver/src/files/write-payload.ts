import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

import type { Payload } from "../payload.ts";

/** How files are written. */
export interface WriteOptions {
  /** Permission bits of the files. */
  readonly mode: number;
  /** Name of this version of the content, never used before, e.g. a time stamp with a random part. */
  readonly version: string;
}

const DATA = "..data";
const DATA_DRAFT = "..data_tmp";

/**
 * Makes `directory` contain exactly these files, as kubelet does for Secrets: the files lie in a directory of their own, `..data` links to
 * it, and each name links through `..data`. The swap of that one link changes all files in one step, so that no one ever reads half of
 * each. Returns false, and writes nothing, when the content is there already.
 */
export function writePayload(directory: string, payload: Payload, { mode, version }: WriteOptions): boolean {
  const data = join(directory, DATA);
  const present = readdirSync(directory);
  const former = present.includes(DATA) ? readlinkSync(data) : undefined;
  if (former !== undefined && isSame(join(directory, former), payload, mode)) {
    linkNames(directory, present, payload);
    return false;
  }
  const current = `..${version}`;
  writeFiles(join(directory, current), payload, mode);
  if (present.includes(DATA_DRAFT)) rmSync(join(directory, DATA_DRAFT));
  symlinkSync(current, join(directory, DATA_DRAFT));
  renameSync(join(directory, DATA_DRAFT), data);
  linkNames(directory, present, payload);
  removeFormer(directory, present);
  return true;
}

/** The files that the volume holds now, without those of other names. */
export function readPayload(directory: string, names: readonly string[]): Payload {
  const files = names.map((name) => [name, join(directory, DATA, name)] as const);
  return new Map(
    files.flatMap(([name, path]) => (existsSync(path) ? [[name, readFileSync(path)] as const] : [])),
  );
}

function writeFiles(directory: string, payload: Payload, mode: number): void {
  mkdirSync(directory);
  chmodSync(directory, 0o755); // whatever the umask is
  for (const [name, bytes] of payload) {
    const file = join(directory, name);
    writeFileSync(file, bytes, { flag: "wx" });
    chmodSync(file, mode);
  }
}

function isSame(directory: string, payload: Payload, mode: number): boolean {
  const names = existsSync(directory) ? readdirSync(directory) : [];
  if (names.length !== payload.size) return false;
  return names.every((name) => {
    const bytes = payload.get(name);
    const file = join(directory, name);
    return bytes !== undefined && (lstatSync(file).mode & 0o777) === mode && bytes.equals(readFileSync(file));
  });
}

/** New names appear after the swap, since before it they would lead nowhere; names that no longer exist follow. */
function linkNames(directory: string, present: readonly string[], payload: Payload): void {
  const linked = new Set(present.filter((name) => !name.startsWith("..")));
  for (const name of payload.keys())
    if (!linked.has(name)) symlinkSync(join(DATA, name), join(directory, name));
  for (const name of linked) if (!payload.has(name)) rmSync(join(directory, name), { force: true });
}

/** Also what an earlier attempt that was cut off has left. */
function removeFormer(directory: string, present: readonly string[]): void {
  const stale = present.filter((name) => name.startsWith("..") && name !== DATA && name !== DATA_DRAFT);
  for (const name of stale) rmSync(join(directory, name), { recursive: true, force: true });
}
