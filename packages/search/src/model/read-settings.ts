import { isJsonObject } from "@quartermaster/runtime";

import { parseYaml } from "./parse-yaml.ts";

/** Settings that an author wrote, or why one of them cannot be read. */
export interface ReadSettings {
  readonly settings: Settings;
  /** Keys whose text is no YAML. */
  readonly unreadable: readonly string[];
}

/** Maps of a spec are frozen and the same object until the cluster's object changes: each is read once. */
const known = new WeakMap<Readonly<Record<string, string>>, ReadSettings>();

/**
 * Reads `additionalConfig`: each value is text of YAML, so `[a, b]` is a list, and a mapping stands for the keys below it. All keys come
 * out in full and dotted: there is one way left to name a setting, and a reserved one cannot hide in a mapping.
 */
export function readSettings(config: Readonly<Record<string, string>>): ReadSettings {
  const before = known.get(config);
  if (before !== undefined) return before;
  const read = settingsIn(config);
  known.set(config, read);
  return read;
}

function settingsIn(config: Readonly<Record<string, string>>): ReadSettings {
  const settings: (readonly [string, SettingValue])[] = [];
  const unreadable: string[] = [];
  for (const key of Object.keys(config).toSorted()) {
    const value = readValue(config[key] ?? "");
    const flat = value === undefined ? undefined : flatten(key, value.parsed);
    if (flat === undefined) unreadable.push(key);
    else settings.push(...flat);
  }
  return { settings: Object.fromEntries(settings), unreadable };
}

/** Scalars stay the text that they are: the engine reads numbers and truth values from text. */
function readValue(text: string): { readonly parsed: unknown } | undefined {
  const read = parseYaml(text, { schema: "failsafe", maxAliasCount: 0 });
  return read === undefined ? undefined : { parsed: read.value ?? "" };
}

const deepestMapping = 16;
/** No setting of an engine comes near. Every key below a mapping repeats the whole name, so a long one would multiply. */
const longestName = 512;

function flatten(
  key: string,
  value: unknown,
  depth = 0,
): readonly (readonly [string, SettingValue])[] | undefined {
  if (depth > deepestMapping || key.length > longestName) return undefined;
  if (!isJsonObject(value)) {
    const scalar = settingValue(value);
    return scalar === undefined ? undefined : [[key, scalar]];
  }
  const parts = Object.keys(value).map((name) => flatten(`${key}.${name}`, value[name], depth + 1));
  return parts.includes(undefined) ? undefined : parts.flatMap((part) => part ?? []);
}

function settingValue(value: unknown): SettingValue | undefined {
  if (typeof value === "string") return value;
  if (value === null) return "";
  if (!Array.isArray(value)) return undefined;
  const items = value.map((item: unknown) => (Array.isArray(item) ? undefined : settingValue(item)));
  return items.includes(undefined) ? undefined : items.flatMap((item) => item ?? []);
}

/** Value of one setting of an engine. */
export type SettingValue = string | number | boolean | readonly SettingValue[];

/** Settings by their full, dotted names. */
export type Settings = Readonly<Record<string, SettingValue>>;

/**
 * The text of a configuration file: one line per setting, sorted. Values are written as JSON, which is YAML: whatever the text of an
 * author contains, it stays the value of its own key.
 */
export function encodeSettings(settings: Settings): string {
  return Object.keys(settings)
    .toSorted()
    .map((key) => `${encodeKey(key)}: ${encodeValue(settings[key] ?? "")}\n`)
    .join("");
}

function encodeKey(key: string): string {
  return /^[A-Za-z][A-Za-z0-9_.-]*$/.test(key) ? key : encodeValue(key);
}

/** Beyond printable ASCII everything is escaped: readers of YAML refuse some characters and take others for line ends. */
function encodeValue(value: SettingValue): string {
  return JSON.stringify(value).replaceAll(
    /[^\u0020-\u007e]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
