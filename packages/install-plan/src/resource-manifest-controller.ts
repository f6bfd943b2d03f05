import { resourceManifest, type ResourceManifest } from "@quartermaster/api";
import { type Controller, defineController, settled } from "@quartermaster/runtime";

import { type Resolved, resolveManifest } from "./manifest/resolve-manifest.ts";
import { manifestRules } from "./rules/manifest-rules.ts";

/** What the controller of manifests needs of its process. */
export interface ResourceManifestOptions {
  /** Only manifests of this namespace (default: all). */
  readonly namespace?: string;
  /** Manifests worked on at the same time (default: 4). */
  readonly concurrency?: number;
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
    ...(namespace === undefined ? {} : { namespace }),
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
