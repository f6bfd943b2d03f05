import { createHash } from "node:crypto";

import { canonicalJson } from "@quartermaster/install-plan/offline";
import { escapePointer } from "@quartermaster/runtime";

/** One field that an apply would change. */
export interface Change {
  /** JSON pointer. */
  readonly path: string;
  readonly before?: string;
  readonly after?: string;
}

/** How values are shown: as they are, or as digests when they are no one's business. */
export interface ChangeOptions {
  readonly isSecret: boolean;
}

/** The fields in which two objects differ, sorted by path; what no one declares is left out. */
export function changesBetween(
  before: unknown,
  after: unknown,
  { isSecret }: ChangeOptions,
): readonly Change[] {
  const [old, fresh] = [certificatesOf(before), certificatesOf(after)];
  const paths = [...new Set([...old.keys(), ...fresh.keys()])]
    .filter((path) => !isUndeclared(path))
    .toSorted();
  const show = isSecret ? digest : shown;
  return paths
    .filter((path) => old.get(path) !== fresh.get(path))
    .map((path) => ({
      path,
      ...output("before", old.get(path), show),
      ...output("after", fresh.get(path), show),
    }));
}

/** What the server fills in, and the marks of the plan: no one declares them. */
const undeclared = [
  "managedFields",
  "resourceVersion",
  "generation",
  "creationTimestamp",
  "uid",
  "selfLink",
].map((field) => `/metadata/${field}`);
const ownerLabels = /^\/metadata\/(?:labels|annotations)\/install\.quartermaster\.dev~1/;

function isUndeclared(path: string): boolean {
  return ownerLabels.test(path) || undeclared.some((own) => path === own || path.startsWith(`${own}/`));
}

/** Every scalar, empty list and empty object as JSON under its pointer. */
function certificatesOf(value: unknown): ReadonlyMap<string, string> {
  const certificates = new Map<string, string>();
  const open: [string, unknown][] = value === undefined ? [] : [["", value]];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [path, part] = next;
    const children = childrenOf(part);
    if (children.length === 0) certificates.set(path, canonicalJson(part));
    open.push(...children.map(([key, child]): [string, unknown] => [`${path}/${escapePointer(key)}`, child]));
  }
  return certificates;
}

function childrenOf(part: unknown): readonly [string, unknown][] {
  return typeof part === "object" && part !== null ? Object.entries(part) : [];
}

function output(
  side: "before" | "after",
  value: string | undefined,
  show: (value: string) => string,
): Partial<Change> {
  return value === undefined ? {} : { [side]: show(value) };
}

function shown(value: string): string {
  return value.length <= 200 ? value : `${value.slice(0, 199)}…`;
}

function digest(value: string): string {
  return `sha256:${createHash("sha256").update(value).digest("hex").slice(0, 16)}`;
}
