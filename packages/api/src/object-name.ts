import { z } from "zod";

/**
 * Name of an object of a kind whose names are DNS subdomains, as those of Secrets, ConfigMaps, claims and most others. A reference without a pattern
 * lets an author write text that means something else elsewhere, e.g. `a=b,c!=d` in a field selector.
 */
export function objectName(): z.ZodString {
  return z
    .string()
    .min(1)
    .max(253)
    .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/);
}

/** The same, where empty is the same as absent. */
export function objectNameOrEmpty(): z.ZodString {
  return z
    .string()
    .max(253)
    .regex(/^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)?$/);
}

/** Name of an object of any kind: those of RBAC may have colons and more, but nothing that separates paths or parts of selectors. */
export function anyObjectName(): z.ZodString {
  return z
    .string()
    .min(1)
    .max(253)
    .regex(/^[^\s/%,=!\\"']+$/);
}

/** Name of a namespace, where empty is the same as absent. */
export function namespaceNameOrEmpty(): z.ZodString {
  return z
    .string()
    .max(63)
    .regex(/^([a-z0-9]([-a-z0-9]*[a-z0-9])?)?$/);
}
