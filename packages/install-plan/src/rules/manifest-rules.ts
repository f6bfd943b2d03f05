import type { ResourceManifest } from "@quartermaster/api";
import { type Rule, settled, stalled, type Verdict, waiting } from "@quartermaster/runtime";

import { describeIdentity, identityOf } from "../identity.ts";
import { appliedForm } from "../manifest/applied-form.ts";
import { flattenList } from "../manifest/flatten-list.ts";
import { fieldOf, isJsonObject, textOf } from "../manifest/json-object.ts";
import { objectFaults } from "../manifest/object-faults.ts";
import type { Resolved } from "../manifest/resolve-manifest.ts";

type Status = NonNullable<ResourceManifest["status"]>;

/** A Secret is not watched: it may come or be mended at any time, and cannot change once it is immutable. */
const secretRetryMs = 60_000;

/** How a ResourceManifest stands: the first rule that answers decides. */
export const manifestRules: readonly Rule<Resolved, never>[] = [
  { name: "secretMissing", answer: secretMissing },
  { name: "contentBroken", answer: contentBroken },
  { name: "objectUnsound", answer: objectUnsound },
  { name: "sound", answer: sound },
];

function secretMissing(resolved: Resolved): Verdict<never> | undefined {
  if (resolved.kind !== "missing") return undefined;
  const { message } = resolved;
  return report(
    { valid: false, reason: message },
    waiting({ reason: "SecretMissing", message }, secretRetryMs),
  );
}

function contentBroken(resolved: Resolved): Verdict<never> | undefined {
  if (resolved.kind === "ok" || resolved.kind === "missing") return undefined;
  const reason = resolved.kind === "changed" ? "ContentChanged" : "ManifestInvalid";
  const { message } = resolved;
  return report({ valid: false, reason: message }, stalled({ reason, message }, secretRetryMs));
}

function objectUnsound(resolved: Resolved): Verdict<never> | undefined {
  const value = resolved.kind === "ok" ? resolved.value : undefined;
  const faults = objectFaults(value).map(({ field, message }) => `${field} ${message}`.trim());
  const flattened = flattenList(value);
  const isList = flattened.kind === "items" && flattened.isList;
  const words = isList ? ["holds a list; a ResourceManifest holds one object"] : faults;
  if (words.length === 0) return undefined;
  const message = words.join("; ").slice(0, 1024);
  return report({ valid: false, reason: message }, stalled({ reason: "ManifestInvalid", message }));
}

function sound(resolved: Resolved): Verdict<never> {
  const value = resolved.kind === "ok" && isJsonObject(resolved.value) ? resolved.value : {};
  const namespace = textOf(fieldOf(value, "metadata"), "namespace");
  const objectRef = identityOf(appliedForm(value, namespace).manifest);
  return report({ valid: true, reason: `Holds ${describeIdentity(objectRef)}.`, objectRef }, settled());
}

function report(status: Status, outcome: Verdict<never>["outcome"]): Verdict<never> {
  return { actions: [], outcome, status };
}
