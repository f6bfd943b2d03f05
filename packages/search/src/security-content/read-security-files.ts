import { isJsonObject, type JsonObject, printable } from "@quartermaster/runtime";

import { isCut } from "../bounded-data.ts";
import type { SecurityDocuments } from "../engine/engine-client.ts";
import { parseYaml } from "../model/parse-yaml.ts";
import type { ReadFiles } from "./observe-security.ts";

/** The plugin's own names of files, and the document that each becomes. */
const files = {
  "config.yml": "config",
  "internal_users.yml": "internalusers",
  "roles.yml": "roles",
  "roles_mapping.yml": "rolesmapping",
  "action_groups.yml": "actiongroups",
  "tenants.yml": "tenants",
} as const satisfies Readonly<Record<string, keyof SecurityDocuments>>;

/** All files together: about a thousand users. Reading as much takes a quarter of a second, and 3 s where it is made to. */
const mostBytes = 256 * 1024;

/** Each is a request to the engine, and a line in the record of what was applied. */
const mostEntries = 5_000;

/** A Secret of the store is the same object until it changes: its files are read once, as long as not too many others are read. */
const known = new Map<SecretData, ReadFiles>();

/** Why files were refused, which takes no room. */
const refused = new WeakMap<SecretData, ReadFiles>();

type SecretData = Readonly<Record<string, string>>;

/** Most text whose content is kept, of all clusters; in memory it takes ten times as much. */
const mostKept = 2 * 1024 * 1024;

/** Reads the files of a Secret, once for each version of it. Files that the plugin does not know here (audit, nodes_dn) have no effect. */
export function readSecurityFiles(data: SecretData): ReadFiles {
  const read = known.get(data) ?? refused.get(data) ?? filesIn(data);
  if (Object.keys(read.documents).length === 0) refused.set(data, read);
  else keep(data, read);
  return read;
}

/** The least recently used entry is dropped first. */
function keep(data: SecretData, read: ReadFiles): void {
  known.delete(data);
  known.set(data, read);
  let kept = 0;
  for (const each of [...known.keys()].toReversed()) {
    kept += bytesOf(each);
    if (kept > mostKept) known.delete(each);
  }
}

function bytesOf(data: SecretData): number {
  return Object.keys(files).reduce((sum, file) => sum + ((data[file]?.length ?? 0) * 3) / 4, 0);
}

function filesIn(data: SecretData): ReadFiles {
  if (bytesOf(data) > mostBytes || Object.keys(files).some((file) => isCut(data[file])))
    return {
      documents: {},
      problems: ["its files are larger than 256 KiB together and are not read: remove entries"],
    };
  const problems: string[] = [];
  const documents = Object.entries(files).flatMap(([file, type]) => {
    const text = data[file];
    if (text === undefined) return [];
    const document = readFile(Buffer.from(text, "base64").toString());
    if (typeof document !== "string") return [[type, document] as const];
    problems.push(`${file}: ${document}`);
    return [];
  });
  const entries = documents.reduce((sum, [, document]) => sum + Object.keys(document).length, 0);
  if (entries > mostEntries)
    return { documents: {}, problems: ["its files have more than 5,000 entries together: remove some"] };
  return { documents: Object.fromEntries(documents), problems };
}

/** The entries of a file without its `_meta`; a sentence when it cannot be read. */
function readFile(text: string): JsonObject | string {
  const read = parseYaml(text, { schema: "core", maxAliasCount: 100 });
  if (read === undefined) return "is not YAML, or has a key twice";
  const { value } = read;
  if (value === null || value === undefined) return {};
  if (!isJsonObject(value)) return "is not a mapping";
  const { _meta, ...entries } = value;
  const wrong = Object.entries(entries).find(([, entry]) => !isJsonObject(entry));
  return wrong === undefined ? entries : `entry ${printable(wrong[0])} is not a mapping`;
}
