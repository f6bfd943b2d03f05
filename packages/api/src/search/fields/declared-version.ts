import { type SpecPart, valueAt } from "./field-verdict.ts";

/** The version that a spec declares: its own word, or the tag of its image; undefined where neither is one. */
export function declaredVersion(spec: SpecPart): string | undefined {
  const version = valueAt(spec, "general.version");
  return typeof version === "string" && version !== ""
    ? releaseIn(version)
    : taggedVersion(valueAt(spec, "general.image"));
}

/** The version in the tag of an image; undefined where the tag is none. */
export function taggedVersion(image: unknown): string | undefined {
  if (typeof image !== "string") return undefined;
  const [reference = ""] = image.split("@");
  const tag = /:v?([^:/]+)$/.exec(reference)?.[1];
  return tag === undefined ? undefined : releaseIn(tag);
}

function releaseIn(text: string): string | undefined {
  return /^\d{1,9}\.\d{1,9}\.\d{1,9}(?!\d)/.exec(text)?.[0];
}

/** Whether a version is known to be older than major.minor. */
export function isOlder(version: string | undefined, major: number, minor: number): boolean {
  const [, first = "", second = ""] = /^(\d+)\.(\d+)/.exec(version ?? "") ?? [];
  if (first === "") return false;
  return Number(first) < major || (Number(first) === major && Number(second) < minor);
}
