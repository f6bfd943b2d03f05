import { isJsonObject } from "@quartermaster/runtime";

/** RFC 7386: null takes a field out. A field that is undefined is not sent, as in JSON. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (patch === undefined) return target;
  if (!isJsonObject(patch)) return patch;
  const before: Readonly<Record<string, unknown>> = isJsonObject(target) ? target : {};
  const kept = Object.entries(before).filter(([key]) => patch[key] !== null);
  const changed = Object.entries(patch)
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([key, value]) => [key, mergePatch(before[key], value)] as const);
  return Object.fromEntries([...kept, ...changed]);
}
