import { isJsonObject, type JsonObject, printable } from "@quartermaster/runtime";

import type { SecurityDocuments } from "../engine/engine-client.ts";
import { parseYaml } from "../model/parse-yaml.ts";
import type { ReadFiles } from "./security-seen.ts";

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

/** A Secret of the store is the same object until it changes: its files are read once. */
const known = new WeakMap<Readonly<Record<string, string>>, ReadFiles>();

/** Reads the files of a Secret, once for each version of it. Files that the plugin does not know here (audit, nodes_dn) have no effect. */
export function readSecurityFiles(data: Readonly<Record<string, string>>): ReadFiles {
  const before = known.get(data);
  if (before !== undefined) return before;
  const read = filesIn(data);
  known.set(data, read);
  return read;
}

function filesIn(data: Readonly<Record<string, string>>): ReadFiles {
  const bytes = Object.keys(files).reduce((sum, file) => sum + ((data[file]?.length ?? 0) * 3) / 4, 0);
  if (bytes > mostBytes)
    return {
      documents: {},
      faults: ["its files are larger than 256 KiB together and are not read: remove entries"],
    };
  const faults: string[] = [];
  const documents = Object.entries(files).flatMap(([file, type]) => {
    const text = data[file];
    if (text === undefined) return [];
    const document = readFile(Buffer.from(text, "base64").toString());
    if (typeof document !== "string") return [[type, document] as const];
    faults.push(`${file}: ${document}`);
    return [];
  });
  return { documents: Object.fromEntries(documents), faults };
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
