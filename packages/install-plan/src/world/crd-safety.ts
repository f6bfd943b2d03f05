import { classify, type Client, type Kind, type KubeObject } from "@quartermaster/runtime";

import { brokenByUpdate } from "../crd/broken-by-update.ts";
import { definedKind } from "../crd/defined-kind.ts";
import { servedVersions } from "../crd/served-versions.ts";
import { unsafeCrdChanges } from "../crd/unsafe-change.ts";
import { describeIdentity } from "../identity.ts";
import type { Issue } from "../issue.ts";
import { isCrd } from "../manifest/provided-kinds.ts";
import { customResourceDefinitions } from "./kinds.ts";
import type { MemberView } from "./seen.ts";

/** Stored objects beyond this number are not all looked at. */
const sampleSize = 1_000;

/** Who looks at stored objects. */
interface Readers {
  /** Speaks as the plan's account: what it may read is named. */
  readonly account: Client;
  /** Speaks as the operator: a CRD must not break what the account may not read either. */
  readonly operator: Client;
}

/** What the new version of a CRD would break: stored versions that go, and objects that its schema would not take. */
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
    ...(field === undefined ? {} : { field }),
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
  return broken.map(({ object, faults }) => {
    const [fault] = faults;
    return `${describeIdentity(object)} would no longer be valid: ${fault?.path ?? ""} ${fault?.message ?? ""}`;
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
