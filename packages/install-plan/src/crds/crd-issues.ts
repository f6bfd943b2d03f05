import {
  classify,
  type Client,
  fieldOf,
  type Kind,
  type KubeObject,
  listOf,
  textOf,
} from "@quartermaster/runtime";
import { customResourceDefinitions } from "@quartermaster/runtime/kinds";

import { isCrd } from "../manifest/provided-kinds.ts";
import { describeIdentity, type Identity, identityOf } from "../model/identity.ts";
import type { Issue } from "../model/issue.ts";
import type { MemberView } from "../seen.ts";
import { definedKind, servedVersions } from "./established-kinds.ts";
import { type SchemaProblem, schemaProblems } from "./schema-problems.ts";

/** Stored objects beyond this number are not all looked at. */
const sampleSize = 1_000;

/** Readers of stored objects. */
interface Readers {
  /** Speaks as the plan's account: what it may read is named. */
  readonly account: Client;
  /** Speaks as the operator: a CRD must not break what the account may not read either. */
  readonly operator: Client;
}

/** Problems of the new version of a CRD: stored versions that go, and objects that its schema would not take. */
export async function crdIssues(view: MemberView, readers: Readers): Promise<readonly Issue[]> {
  const { member } = view;
  if (!isCrd(member.identity) || view.live === undefined) return [];
  const live = await readers.account.find(customResourceDefinitions, { name: member.identity.name });
  if (live === undefined) return [];
  const changes = unsafeCrdChanges(live, member.manifest);
  const issueFor = (message: string, field?: string): Issue => ({
    reason: "UnsafeCRD",
    stage: member.stage,
    index: member.index,
    object: member.identity,
    field,
    message,
  });
  const broken = changes.length > 0 ? [] : await brokenObjects(live, member.manifest, readers);
  return [
    ...changes.map(({ message, field }) => issueFor(message, field)),
    ...broken.map((message) => issueFor(message)),
  ];
}

/** In every version that is served before and after: a new storage version does not excuse a stricter old one. */
async function brokenObjects(
  live: KubeObject,
  next: KubeObject,
  readers: Readers,
): Promise<readonly string[]> {
  const before = servedVersions(live);
  const broken = new Set<string>();
  for (const version of servedVersions(next).filter((name) => before.includes(name)))
    for (const message of await brokenIn(version, next, readers)) broken.add(message);
  return [...broken];
}

async function brokenIn(version: string, next: KubeObject, readers: Readers): Promise<readonly string[]> {
  const kind = definedKind(next, version);
  if (kind === undefined) return [];
  const { objects, isNamed } = await storedOf(kind, readers);
  const broken = brokenByUpdate(next, version, objects);
  if (!isNamed && broken.length > 0) return [`Stored objects of kind ${kind.kind} would no longer be valid.`];
  return broken.map(({ object, problems }) => {
    const [problem] = problems;
    return `${describeIdentity(object)} would no longer be valid: ${problem?.path ?? ""} ${problem?.message ?? ""}`;
  });
}

async function storedOf(
  kind: Kind,
  { account, operator }: Readers,
): Promise<{ readonly objects: readonly KubeObject[]; readonly isNamed: boolean }> {
  try {
    return { objects: await sampleOf(kind, account), isNamed: true };
  } catch (error) {
    if (classify(error) !== "forbidden") throw error;
    return { objects: await sampleOf(kind, operator), isNamed: false };
  }
}

async function sampleOf(kind: Kind, client: Client): Promise<readonly KubeObject[]> {
  const objects: KubeObject[] = [];
  for await (const object of client.list(kind)) {
    objects.push(object);
    if (objects.length >= sampleSize) break;
  }
  return objects;
}

/** A change of a CRD that would lose data or break those who use it. */
export interface UnsafeChange {
  readonly field: string;
  readonly message: string;
}

/**
 * All problems of a new CRD with the live one. Objects may be stored in each of `status.storedVersions`, whether any
 * are there or not, so none of them may go; the rest the server refuses itself, but only when it is too late for a preview.
 */
export function unsafeCrdChanges(live: unknown, next: unknown): readonly UnsafeChange[] {
  return [
    ...identityChanges(live, next),
    ...storedVersionChanges(live, next),
    ...servedVersionChanges(live, next),
  ];
}

const fixed = [
  { path: ["group"], field: "spec.group" },
  { path: ["scope"], field: "spec.scope" },
  { path: ["names", "kind"], field: "spec.names.kind" },
  { path: ["names", "plural"], field: "spec.names.plural" },
  { path: ["names", "listKind"], field: "spec.names.listKind" },
  { path: ["names", "singular"], field: "spec.names.singular" },
] as const;

/** A name that the server defaults is no change. */
function identityChanges(live: unknown, next: unknown): readonly UnsafeChange[] {
  return fixed.flatMap(({ path, field }) => {
    const [before, after] = [specField(live, path), specField(next, path)];
    if (before === undefined || after === undefined || before === after) return [];
    return [{ field, message: `cannot change from ${before} to ${after}` }];
  });
}

function specField(crd: unknown, path: readonly string[]): string | undefined {
  const value = path.reduce<unknown>((outer, key) => fieldOf(outer, key), fieldOf(crd, "spec"));
  return typeof value === "string" ? value : undefined;
}

function storedVersionChanges(live: unknown, next: unknown): readonly UnsafeChange[] {
  const kept = new Set(versionNames(next));
  return storedVersions(live)
    .filter((version) => !kept.has(version))
    .map((version) => ({
      field: "spec.versions",
      message: `version ${version} cannot be removed: objects may be stored in it; migrate them and remove it from status.storedVersions first`,
    }));
}

/** Stored objects stay readable through another version, but clients of this one lose them from one moment to the next. */
function servedVersionChanges(live: unknown, next: unknown): readonly UnsafeChange[] {
  const [known, served, stored] = [
    new Set(versionNames(next)),
    new Set(servedVersions(next)),
    storedVersions(live),
  ];
  return servedVersions(live)
    .filter((version) => stored.includes(version) && known.has(version) && !served.has(version))
    .map((version) => ({
      field: `spec.versions[${version}].served`,
      message: `version ${version} cannot stop being served while objects may be stored in it`,
    }));
}

function storedVersions(crd: unknown): readonly string[] {
  return listOf(fieldOf(crd, "status"), "storedVersions").filter((version) => typeof version === "string");
}

function versionNames(crd: unknown): readonly string[] {
  return listOf(fieldOf(crd, "spec"), "versions").flatMap((version) => textOf(version, "name") ?? []);
}

/** An object that the new schema of its CRD would no longer take. */
export interface BrokenObject {
  readonly object: Identity;
  readonly problems: readonly SchemaProblem[];
}

/** Faults reported per object; the first say enough. */
const problemLimit = 5;

/**
 * The objects that a new CRD would make invalid in one version, as far as its schema shows (see `schemaFaults`). Objects must
 * be in that version; what no version's schema covers is no one's fault, so an unknown version breaks nothing.
 */
export function brokenByUpdate(
  nextCrd: unknown,
  version: string,
  objects: Iterable<KubeObject>,
): readonly BrokenObject[] {
  const schema = schemaOf(nextCrd, version);
  if (schema === undefined) return [];
  return [...objects]
    .map((object) => ({
      object: identityOf(object),
      problems: schemaProblems(schema, object).slice(0, problemLimit),
    }))
    .filter(({ problems }) => problems.length > 0);
}

function schemaOf(crd: unknown, version: string): unknown {
  const found = listOf(fieldOf(crd, "spec"), "versions").find((entry) => textOf(entry, "name") === version);
  return fieldOf(fieldOf(found, "schema"), "openAPIV3Schema");
}
