import { z } from "zod";

/** The driver of each profile, unless the configuration names another one. */
const drivers = {
  seed: "projected-resource.storage.openshift.io",
  sharedresource: "csi.sharedresource.openshift.io",
} as const;

/** The file of `--subscription-config`; every field has a default. */
const settingsFile = z.strictObject({
  profile: z.enum(["seed", "sharedresource"]).default("seed"),
  driver: z.string().min(1).max(253).optional(),
  repoLayout: z.enum(["auto", "directory", "files"]).default("auto"),
  mixedScopes: z.enum(["Allow", "Reject"]).default("Allow"),
  accessPolicy: z.enum(["Skip", "Reject"]).default("Skip"),
  conflictPolicy: z.enum(["Reject", "Skip"]).default("Skip"),
  defaultClusterRoles: z.array(z.string().min(1).max(253)).max(32).default([]),
  allowedClusterRoles: z.array(z.string().min(1).max(253)).max(32).default(["admin", "edit", "view"]),
});

/** How bundles are injected and shared; see docs/reference/subscription-config.md. */
export interface SubscriptionSettings {
  /** Which API shares objects between namespaces. */
  readonly profile: "seed" | "sharedresource";
  /** Name of the CSI driver that mounts shares. */
  readonly driver: string;
  /** How repositories are mounted: as a directory at /run/secrets, file by file, or whichever fits the container. */
  readonly repoLayout: "auto" | "directory" | "files";
  /** Whether a pod may have Bundles and ClusterBundles. */
  readonly mixedScopes: "Allow" | "Reject";
  /** Policy for a pod whose service account may not use an always-inject ClusterBundle. */
  readonly accessPolicy: "Skip" | "Reject";
  /** Policy when an always-inject bundle has a key that another bundle has too. */
  readonly conflictPolicy: "Reject" | "Skip";
  /** Roles of ClusterBundles without `aggregateToClusterRoles`. */
  readonly defaultClusterRoles: readonly string[];
  /** Roles that ClusterBundles may be aggregated to. */
  readonly allowedClusterRoles: readonly string[];
}

/** A configuration that cannot be used; the message names each field at fault. */
export class SubscriptionSettingsError extends Error {
  override readonly name = "SubscriptionSettingsError";
  readonly code = "invalidSubscriptionConfig";
}

/**
 * Checks the parsed content of a configuration file and fills in the defaults. Throws SubscriptionSettingsError.
 *
 * @example
 * const settings = readSubscriptionSettings({ profile: "sharedresource" });
 */
export function readSubscriptionSettings(content: unknown): SubscriptionSettings {
  const parsed = settingsFile.safeParse(content ?? {});
  if (!parsed.success) {
    const problems = parsed.error.issues.map(({ path, message }) =>
      [path.join("."), message].filter((part) => part !== "").join(": "),
    );
    throw new SubscriptionSettingsError(problems.join("; "));
  }
  const { driver, ...settings } = parsed.data;
  return Object.freeze({ ...settings, driver: driver ?? drivers[settings.profile] });
}
