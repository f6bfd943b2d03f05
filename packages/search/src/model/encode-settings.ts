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
