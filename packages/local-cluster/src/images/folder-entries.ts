import { lstatSync, readdirSync, readlinkSync } from "node:fs";
import { join } from "node:path";

import type { TarEntry } from "./tar.ts";

/** Who owns the files in the image, and below which path they lie there. */
export interface FolderEntriesOptions {
  readonly uid?: number;
  readonly gid?: number;
  /** Path in the image, without a leading slash (default: its root). */
  readonly prefix?: string;
}

/** All files, folders and links below `root` as entries of an image. Other kinds of files are left out. */
export function folderEntries(
  root: string,
  { uid = 0, gid = 0, prefix = "" }: FolderEntriesOptions = {},
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
      return [{ kind: "folder", path, uid, gid, mode }, ...folderEntries(source, { uid, gid, prefix: path })];
    });
}
