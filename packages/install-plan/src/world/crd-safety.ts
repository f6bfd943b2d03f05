import type { Client, KubeObject } from "@quartermaster/runtime";

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

/** What the new version of a CRD would break: stored versions that go, and objects that its schema would not take. */
export async function crdIssues(view: MemberView, client: Client): Promise<readonly Issue[]> {
  const { member } = view;
  if (!isCrd(member.identity) || view.live === undefined) return [];
  const live = await client.find(customResourceDefinitions, { name: member.identity.name });
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
  const broken = changes.length > 0 ? [] : await brokenObjects(live, member.manifest, client);
  return [
    ...changes.map(({ message, field }) => issueFor(message, field)),
    ...broken.map((message) => issueFor(message)),
  ];
}

/** In every version that is served before and after: a new storage version does not excuse a stricter old one. */
async function brokenObjects(live: KubeObject, next: KubeObject, client: Client): Promise<readonly string[]> {
  const before = servedVersions(live);
  const broken = new Set<string>();
  for (const version of servedVersions(next).filter((name) => before.includes(name)))
    for (const message of await brokenIn(version, next, client)) broken.add(message);
  return [...broken];
}

async function brokenIn(version: string, next: KubeObject, client: Client): Promise<readonly string[]> {
  const kind = definedKind(next, version);
  if (kind === undefined) return [];
  const objects: KubeObject[] = [];
  for await (const object of client.list(kind)) {
    objects.push(object);
    if (objects.length >= sampleSize) break;
  }
  return brokenByUpdate(next, version, objects).map(({ object, faults }) => {
    const [fault] = faults;
    return `${describeIdentity(object)} would no longer be valid: ${fault?.path ?? ""} ${fault?.message ?? ""}`;
  });
}
