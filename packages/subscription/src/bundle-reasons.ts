import type { ConditionUpdate, Why } from "@quartermaster/runtime";

/** Conditions of bundles besides Ready, Reconciling and Stalled. True means that something is wrong. */
export const conditionTypes = {
  invalid: "Invalid",
  keyConflict: "KeyConflict",
  shareSyncFailed: "ShareSyncFailed",
  aggregationIneffective: "AggregationIneffective",
  driverUnavailable: "DriverUnavailable",
} as const;

/** Every reason of these conditions. docs/guides/troubleshooting.md says what to do about each. */
export const bundleReasons = {
  referenceNotFound: "ReferenceNotFound",
  referenceForbidden: "ReferenceForbidden",
  crossNamespaceReference: "CrossNamespaceReference",
  authorUnknown: "AuthorUnknown",
  authorForbidden: "AuthorForbidden",
  tooManyKeys: "TooManyKeys",
  namespaceLimit: "NamespaceLimit",
  alwaysInjectLimit: "AlwaysInjectLimit",
  referencesFound: "ReferencesFound",
  grantForbidden: "GrantForbidden",
  entitlementKeyConflict: "EntitlementKeyConflict",
  repositoryKeyConflict: "RepositoryKeyConflict",
  noKeyConflict: "NoKeyConflict",
  nameTaken: "NameTaken",
  roleOverridden: "RoleOverridden",
  shared: "Shared",
  roleNotAllowed: "RoleNotAllowed",
  roleNotFound: "RoleNotFound",
  roleDoesNotAggregate: "RoleDoesNotAggregate",
  aggregated: "Aggregated",
  shareApiNotServed: "ShareApiNotServed",
  driverNotRegistered: "DriverNotRegistered",
  shareApiServed: "ShareApiServed",
  shareApiStarting: "ShareApiStarting",
} as const;

/** A condition that is True because of a problem, or False without one. */
export function abnormal(
  type: (typeof conditionTypes)[keyof typeof conditionTypes],
  problem: Why | undefined,
  healthy: Why,
): ConditionUpdate {
  return { type, status: problem === undefined ? "False" : "True", ...(problem ?? healthy) };
}

/** The most urgent of several problems, with the messages of all that share its reason; the order of reasons is the urgency. */
export function mostUrgent(problems: readonly Why[], urgency: readonly string[]): Why | undefined {
  const reason = urgency.find((each) => problems.some((problem) => problem.reason === each));
  if (reason === undefined) return undefined;
  const messages = problems.filter((problem) => problem.reason === reason).map(({ message }) => message);
  const shown = messages.slice(0, shownAtMost).join(" ");
  const rest = messages.length > shownAtMost ? ` And ${messages.length - shownAtMost} more.` : "";
  return { reason, message: `${shown}${rest}` };
}

const shownAtMost = 5;
