import { lstatSync, readdirSync, readlinkSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";

/** One entry of a tar archive. Paths are relative, without a leading or trailing slash. */
export type TarEntry = TarFile | TarDirectory | TarLink;

interface TarOwner {
  readonly path: string;
  /** Owner by number (default: root). */
  readonly uid?: number;
  readonly gid?: number;
}

/** A regular file: from memory, or from a file of this machine whose size is known. */
export interface TarFile extends TarOwner {
  readonly kind: "file";
  readonly mode: number;
  readonly content: Uint8Array | { readonly file: string; readonly sizeBytes: number };
}

/** A directory. */
export interface TarDirectory extends TarOwner {
  readonly kind: "directory";
  readonly mode: number;
}

/** A symbolic link. */
export interface TarLink extends TarOwner {
  readonly kind: "link";
  readonly target: string;
}

/**
 * The bytes of a tar archive (POSIX pax). Entries are written in the order of their paths and with the epoch as their time,
 * so that the same entries give the same bytes.
 */
export async function* writeTar(entries: readonly TarEntry[]): AsyncGenerator<Uint8Array> {
  const sorted = entries.toSorted((left, right) => (left.path < right.path ? -1 : 1));
  for (const entry of sorted) {
    yield* headersOf(entry);
    if (entry.kind === "file") yield* contentOf(entry);
  }
  yield new Uint8Array(2 * BLOCK);
}

const BLOCK = 512;
const CHUNK_BYTES = 1 << 20;
/** Room for a path in the old header. */
const NAME_BYTES = 100;

async function* contentOf({ path, content }: TarFile): AsyncGenerator<Uint8Array> {
  const sizeBytes = sizeOf(content);
  let writtenBytes = 0;
  for await (const chunk of content instanceof Uint8Array ? [content] : chunksOf(content.file)) {
    writtenBytes += chunk.length;
    yield chunk;
  }
  if (writtenBytes !== sizeBytes)
    throw new Error(`the file for ${path} changed its size while it was packed`);
  yield padding(sizeBytes);
}

async function* chunksOf(file: string): AsyncGenerator<Uint8Array> {
  await using handle = await open(file);
  for (;;) {
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(CHUNK_BYTES));
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
  }
}

/** A path or target that does not fit the old header is written to a pax header in front of it. */
function headersOf(entry: TarEntry): readonly Uint8Array[] {
  const path = entry.kind === "directory" ? `${entry.path}/` : entry.path;
  const target = entry.kind === "link" ? entry.target : "";
  const records = [
    ...(fits(path) ? [] : [paxRecord("path", path)]),
    ...(fits(target) ? [] : [paxRecord("linkpath", target)]),
  ];
  const own = header({
    ...entry,
    path,
    target,
    type: TYPES[entry.kind],
    sizeBytes: entry.kind === "file" ? sizeOf(entry.content) : 0,
  });
  if (records.length === 0) return [own];
  const body = Buffer.from(records.join(""));
  return [
    header({ path: "pax", target: "", type: "x", sizeBytes: body.length }),
    body,
    padding(body.length),
    own,
  ];
}

const TYPES = { file: "0", directory: "5", link: "2" } as const;

function fits(name: string): boolean {
  return Buffer.byteLength(name) <= NAME_BYTES;
}

/** "length key=value\n", where the length counts its own digits. */
function paxRecord(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`;
  const restBytes = Buffer.byteLength(rest);
  const nearly = restBytes + String(restBytes).length;
  return `${restBytes + String(nearly).length}${rest}`;
}

interface Header {
  readonly path: string;
  readonly target: string;
  readonly type: string;
  readonly sizeBytes: number;
  readonly mode?: number;
  readonly uid?: number;
  readonly gid?: number;
}

function header({
  path,
  target,
  type,
  sizeBytes,
  mode = type === "2" ? 0o777 : 0o644,
  uid = 0,
  gid = 0,
}: Header): Uint8Array {
  const block = Buffer.alloc(BLOCK);
  Buffer.from(path).copy(block, 0, 0, NAME_BYTES);
  block.write(octal(mode, 7), 100);
  block.write(octal(uid, 7), 108);
  block.write(octal(gid, 7), 116);
  block.write(octal(sizeBytes, 11), 124);
  block.write(octal(0, 11), 136);
  block.write(" ".repeat(8), 148); // the checksum counts itself as blanks
  block.write(type, 156);
  Buffer.from(target).copy(block, 157, 0, NAME_BYTES);
  block.write("ustar\u000000", 257);
  const checksum = block.reduce((sum, byte) => sum + byte, 0);
  block.write(`${octal(checksum, 6)}\0 `, 148);
  return block;
}

function octal(value: number, digits: number): string {
  const text = value.toString(8).padStart(digits, "0");
  if (text.length > digits) throw new Error(`${value} does not fit into a tar header`);
  return text;
}

function sizeOf(content: TarFile["content"]): number {
  return content instanceof Uint8Array ? content.length : content.sizeBytes;
}

function padding(sizeBytes: number): Uint8Array {
  return new Uint8Array((BLOCK - (sizeBytes % BLOCK)) % BLOCK);
}

/** Who owns the files in the image, and below which path they lie there. */
export interface DirectoryEntriesOptions {
  readonly uid?: number;
  readonly gid?: number;
  /** Path in the image, without a leading slash (default: its root). */
  readonly prefix?: string;
}

/** All files, directories and links below `root` as entries of an image. Other kinds of files are left out. */
export function directoryEntries(
  root: string,
  { uid = 0, gid = 0, prefix = "" }: DirectoryEntriesOptions = {},
): readonly TarEntry[] {
  return readdirSync(root)
    .toSorted()
    .flatMap((name): readonly TarEntry[] => {
      const source = join(root, name);
      const path = prefix === "" ? name : `${prefix}/${name}`;
      const facts = lstatSync(source);
      const mode = facts.mode & 0o7777;
      if (facts.isSymbolicLink()) return [{ kind: "link", path, uid, gid, target: readlinkSync(source) }];
      if (facts.isFile())
        return [{ kind: "file", path, uid, gid, mode, content: { file: source, sizeBytes: facts.size } }];
      if (!facts.isDirectory()) return [];
      return [
        { kind: "directory", path, uid, gid, mode },
        ...directoryEntries(source, { uid, gid, prefix: path }),
      ];
    });
}
