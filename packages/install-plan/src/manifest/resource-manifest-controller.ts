import { resourceManifest, type ResourceManifest } from "@quartermaster/api";
import {
  type Controller,
  defineController,
  fieldOf,
  isJsonObject,
  type Rule,
  settled,
  stalled,
  textOf,
  type Verdict,
} from "@quartermaster/runtime";

import { describeIdentity, identityOf } from "../model/identity.ts";
import { appliedForm } from "./applied-form.ts";
import { objectProblems } from "./object-problems.ts";
import { flattenList } from "./plan-items.ts";
import { type Resolved, resolveManifest } from "./resolve-manifest.ts";

/** Dependencies of the controller of manifests. */
export interface ResourceManifestOptions {
  /** Only manifests of this namespace (default: all). */
  readonly namespace?: string | undefined;
  /** Manifests worked on at the same time (default: 4). */
  readonly concurrency?: number | undefined;
}

/**
 * The controller of ResourceManifests. It writes nothing but their status: whether they hold what they say, and which object.
 *
 * @example
 * const controllers = [installPlanController({ system, discovery }), resourceManifestController()];
 */
export function resourceManifestController({
  namespace,
  concurrency = 4,
}: ResourceManifestOptions = {}): Controller {
  return defineController<ResourceManifest, Resolved, never>(resourceManifest.kind, {
    concurrency,
    namespace,
    recipe: {
      rules: manifestRules,
      observe: async (manifest) => await Promise.resolve(resolve(manifest)),
      perform: async () => await Promise.resolve(),
      cleanUp: async () => await Promise.resolve(settled()),
    },
  });
}

function resolve(manifest: ResourceManifest): Resolved {
  const { secretKeyRef } = manifest.spec;
  if (secretKeyRef === undefined) return resolveManifest(manifest, () => undefined);
  const message = `The content is in Secret ${secretKeyRef.name}. Each plan reads it as its own account, which needs get on that Secret.`;
  return { kind: "unreadable", message };
}

type Status = NonNullable<ResourceManifest["status"]>;

/** State of a ResourceManifest: the first rule that matches decides. */
export const manifestRules: readonly Rule<Resolved, never>[] = [
  { name: "contentInSecret", decide: contentInSecret },
  { name: "contentBroken", decide: contentBroken },
  { name: "objectUnsound", decide: objectUnsound },
  { name: "sound", decide: sound },
];

/** A ResourceManifest has no account, so its Secret is not read; each plan that refers to it does, as its own. */
function contentInSecret(resolved: Resolved): Verdict<never> | undefined {
  return resolved.kind === "unreadable" ? report({ reason: resolved.message }, settled()) : undefined;
}

function contentBroken(resolved: Resolved): Verdict<never> | undefined {
  if (resolved.kind === "ok") return undefined;
  const reason = resolved.kind === "changed" ? "ContentChanged" : "ManifestInvalid";
  const { message } = resolved;
  return report({ valid: false, reason: message }, stalled({ reason, message }));
}

function objectUnsound(resolved: Resolved): Verdict<never> | undefined {
  const value = resolved.kind === "ok" ? resolved.value : undefined;
  const problems = objectProblems(value).map(({ field, message }) => `${field} ${message}`.trim());
  const flattened = flattenList(value);
  const isList = flattened.kind === "items" && flattened.isList;
  const text = isList ? ["contains a list; a ResourceManifest holds exactly one object"] : problems;
  if (text.length === 0) return undefined;
  const message = text.join("; ").slice(0, 1024);
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
