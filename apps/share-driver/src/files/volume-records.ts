import { hash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { Log } from "@quartermaster/runtime";
import { z } from "zod";

const record = z.object({
  volumeId: z.string(),
  target: z.string(),
  mode: z.number(),
  /** A volume is `publishing` from before its mount until its content is complete. */
  phase: z.enum(["publishing", "published"]),
  pod: z.object({
    namespace: z.string(),
    name: z.string(),
    uid: z.string(),
    serviceAccount: z.string(),
  }),
  /** Bytes of the content. */
  sizeBytes: z.number(),
  sources: z
    .array(
      z.object({
        share: z.string(),
        backing: z.object({ kind: z.enum(["Secret", "ConfigMap"]), namespace: z.string(), name: z.string() }),
        /** resourceVersion of the content that the volume holds. */
        version: z.string(),
        /** Names of the files that come from this Share. */
        keys: z.array(z.string()).readonly(),
      }),
    )
    .readonly(),
});

/** What must survive a restart of the driver about one volume. References only, no value. */
export type VolumeRecord = z.infer<typeof record>;

/** One file per volume below a directory that outlives the driver. */
export class VolumeRecords {
  readonly #directory: string;
  readonly #log: Log;

  constructor(directory: string, log: Log) {
    this.#directory = directory;
    this.#log = log;
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  }

  /** All volumes on record. A file that cannot be read is removed: its volume stays as it is and is no longer refreshed. */
  all(): readonly VolumeRecord[] {
    return readdirSync(this.#directory).flatMap((name) => {
      const path = join(this.#directory, name);
      const found = parseRecord(readFileSync(path, "utf8"));
      if (found !== undefined && name === fileName(found.volumeId)) return [found];
      if (!name.endsWith(DRAFT)) this.#log.warn("unreadable record of a volume removed", { file: name });
      rmSync(path, { force: true });
      return [];
    });
  }

  /** Writes the record; a reader sees the old one or the new one. */
  write(entry: VolumeRecord): void {
    const path = join(this.#directory, fileName(entry.volumeId));
    writeFileSync(`${path}${DRAFT}`, JSON.stringify(entry), { mode: 0o600 });
    renameSync(`${path}${DRAFT}`, path);
  }

  /** Removes the record, if there is one. */
  remove(volumeId: string): void {
    rmSync(join(this.#directory, fileName(volumeId)), { force: true });
  }
}

const DRAFT = ".new";

/** The id is foreign text, and this is a path. */
function fileName(volumeId: string): string {
  return `${hash("sha256", volumeId, "hex")}.json`;
}

function parseRecord(text: string): VolumeRecord | undefined {
  try {
    return record.parse(JSON.parse(text));
  } catch {
    return undefined; // half-written or of another version: the caller reports it
  }
}
