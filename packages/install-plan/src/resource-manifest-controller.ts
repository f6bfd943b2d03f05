import { resourceManifest, type ResourceManifest } from "@quartermaster/api";
import { ApiError, type Context, type Controller, defineController, settled } from "@quartermaster/runtime";

import { type Resolved, resolveManifest } from "./manifest/resolve-manifest.ts";
import { manifestRules } from "./rules/manifest-rules.ts";
import { findManifestSecret } from "./world/manifest-secret.ts";

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
  return defineController<ResourceManifest, Resolved, never>({
    kind: resourceManifest.kind,
    concurrency,
    ...(namespace === undefined ? {} : { namespace }),
    recipe: {
      rules: manifestRules,
      observe: resolve,
      perform: async () => await Promise.resolve(),
      cleanUp: async () => await Promise.resolve(settled()),
    },
  });
}

async function resolve(manifest: ResourceManifest, { client, signal }: Context): Promise<Resolved> {
  const { secretKeyRef } = manifest.spec;
  if (secretKeyRef === undefined) return resolveManifest(manifest, () => undefined);
  const { namespace = "" } = manifest.metadata;
  try {
    const secret = await findManifestSecret(client, { namespace, name: secretKeyRef.name }, signal);
    return resolveManifest(manifest, () => secret);
  } catch (error) {
    if (!(error instanceof ApiError) || error.class !== "forbidden") throw error;
    return { kind: "missing", message: `${error.message}.` };
  }
}
