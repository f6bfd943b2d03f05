import { gzipSync } from "node:zlib";

import { canonicalJson, type KubeObject } from "@quartermaster/runtime";

import { describeIdentity } from "../model/identity.ts";
import type { Issue } from "../model/issue.ts";
import type { PackObject } from "./pack-objects.ts";
import type { PackedManifest, PackedResource } from "./pack.ts";

const kibibyte = 1_024;
/** Up to this size the manifest is stored inline in the ResourceManifest; larger ones are not read by people, and each write of them is expensive. */
const rawLimitBytes = 128 * kibibyte;
/** Maximum content of an immutable Secret. */
const secretLimitBytes = 900 * kibibyte;
/** Maximum size that the operator unpacks. */
const inflatedLimitBytes = 4 * kibibyte * kibibyte;
/** Maximum packed size of one object of the API server. */
const packedLimitCharacters = 1_400_000;

/** How one object is kept: in the plan, or beside it. */
export interface StoredObject {
  readonly resource: PackedResource;
  readonly manifest?: PackedManifest;
  readonly secret?: KubeObject;
  readonly issue?: Issue;
}

/** The object as a part of the plan. */
export function storeInline({ manifest }: PackObject): StoredObject {
  return { resource: { manifest } };
}

/** The object in a ResourceManifest named by its digest, so the same content is stored once. */
export function storeBeside(object: PackObject, namespace: string): StoredObject {
  const json = canonicalJson(object.manifest);
  const sizeBytes = Buffer.byteLength(json);
  if (sizeBytes < rawLimitBytes) return beside(object, namespace, { manifest: object.manifest });
  const data = sizeBytes > inflatedLimitBytes ? "" : gzipSync(json, { level: 9 }).toString("base64");
  const stored = beside(object, namespace, { data, encoding: "gzip" });
  const isTooLarge = sizeBytes > inflatedLimitBytes || data.length > packedLimitCharacters;
  return isTooLarge ? { ...stored, issue: tooLarge(object, sizeBytes) } : stored;
}

const secretKey = "manifest";

/** The object in an immutable Secret that a ResourceManifest points to. */
export function storeInSecret(object: PackObject, namespace: string): StoredObject {
  const name = storedName(object);
  const stored = beside(object, namespace, { secretKeyRef: { name, key: secretKey } });
  const json = canonicalJson(object.manifest);
  const secret = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name, namespace },
    immutable: true,
    data: { [secretKey]: Buffer.from(json).toString("base64") },
  };
  const sizeBytes = Buffer.byteLength(json);
  return {
    ...stored,
    secret,
    ...(sizeBytes > secretLimitBytes ? { issue: tooLarge(object, sizeBytes) } : {}),
  };
}

function beside(
  object: PackObject,
  namespace: string,
  content: Omit<PackedManifest["spec"], "sha256">,
): StoredObject {
  const { digest: sha256, identity } = object;
  const name = storedName(object);
  return {
    resource: { manifestRef: { name, sha256, object: identity } },
    manifest: {
      apiVersion: "install.quartermaster.dev/v1alpha1",
      kind: "ResourceManifest",
      metadata: { name, namespace },
      spec: { ...content, sha256 },
    },
  };
}

function storedName({ digest }: PackObject): string {
  return `rm-${digest.slice(0, 16)}`;
}

function tooLarge({ identity, source }: PackObject, sizeBytes: number): Issue {
  const kibibytes = Math.ceil(sizeBytes / kibibyte);
  const message = `${source}: ${describeIdentity(identity)}: ${kibibytes} KiB exceed the object size limit of the API server, even compressed; make it smaller`;
  return { reason: "InvalidManifest", object: identity, message };
}
