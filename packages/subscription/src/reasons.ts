/** Every reason why a pod is refused. docs/guides/troubleshooting.md says what to do about each. */
export const reasons = {
  invalidAnnotation: "InvalidAnnotation",
  unsupportedOs: "UnsupportedOS",
  bundleNotFound: "BundleNotFound",
  clusterBundleNotFound: "ClusterBundleNotFound",
  accessDenied: "AccessDenied",
  bundleInvalid: "BundleInvalid",
  bundleNotReady: "BundleNotReady",
  mixedScopes: "MixedScopes",
  crossNamespaceReference: "CrossNamespaceReference",
  referenceNotFound: "ReferenceNotFound",
  referenceForbidden: "ReferenceForbidden",
  tooManyReferences: "TooManyReferences",
  tooManyKeys: "TooManyKeys",
  entitlementKeyConflict: "EntitlementKeyConflict",
  repositoryKeyConflict: "RepositoryKeyConflict",
  mountPathConflict: "MountPathConflict",
  patchTooLarge: "PatchTooLarge",
} as const;

/** One of them. */
export type InjectionReason = (typeof reasons)[keyof typeof reasons];

/** Why a bundle cannot be injected. */
export interface Problem {
  readonly reason: InjectionReason;
  /** Names the bundle, the cause and the remedy; no name that the pod's author may not read. */
  readonly text: string;
}
