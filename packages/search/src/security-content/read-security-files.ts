import { isJsonObject, type JsonObject, printable } from "@quartermaster/runtime";
import { parse } from "yaml";

import type { SecurityDocuments } from "../engine/engine-client.ts";
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

/** Reads the files of a Secret. Files that the plugin does not know here (audit, nodes_dn) have no effect. */
export function readSecurityFiles(data: Readonly<Record<string, string>>): ReadFiles {
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
  try {
    const value: unknown = parse(text, { maxAliasCount: 100 });
    if (value === null || value === undefined) return {};
    if (!isJsonObject(value)) return "is not a mapping";
    const { _meta, ...entries } = value;
    const wrong = Object.entries(entries).find(([, entry]) => !isJsonObject(entry));
    return wrong === undefined ? entries : `entry ${printable(wrong[0])} is not a mapping`;
  } catch (error) {
    return `is not YAML (${error instanceof Error ? error.name : "unreadable"})`;
  }
}
