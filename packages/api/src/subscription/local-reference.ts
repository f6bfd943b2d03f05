import { atomicList, cel } from "@quartermaster/runtime/schema";
import { z } from "zod";

/** A namespace's name. */
export const namespaceName = z
  .string()
  .min(1)
  .max(63)
  .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/);

/** The name of a Secret, a ConfigMap or a Share. */
export const objectName = z
  .string()
  .min(1)
  .max(253)
  .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/);

/** A key of a Secret or a ConfigMap, which is also a file name; the API server refuses `.`, `..` and names that start with `..`. */
const fileName = cel(
  z
    .string()
    .min(1)
    .max(253)
    .regex(/^[-._a-zA-Z0-9]+$/),
  { rule: "self != '.' && !self.startsWith('..')", message: "must not be '.' or start with '..'" },
);

const item = z.strictObject({
  key: fileName.describe("Key to mount. At most 253 characters."),
  path: fileName.describe("File name of the key, without slashes. At most 253 characters."),
});

/** Fields of a reference besides the object it names. */
const mountFields = {
  items: atomicList(item)
    .min(1)
    .max(64)
    .optional()
    .describe(
      "Keys to mount, each with its file name. Defaults to all keys under their own names. At most 64.",
    ),
  prefix: z
    .string()
    .min(1)
    .max(63)
    .regex(/^[a-zA-Z0-9][-._a-zA-Z0-9]*$/)
    .optional()
    .describe(
      "Prefix of the file names, so that objects with the same keys can be mounted together. Not allowed together with items. At most 63 characters.",
    ),
  optional: z
    .boolean()
    .default(false)
    .describe("Whether pods may start without the object. Defaults to false."),
};

const itemsOrPrefix = {
  rule: "!(has(self.items) && has(self.prefix))",
  message: "items and prefix exclude each other",
};

/** An object in the namespace of the Bundle. */
export const localReference = cel(
  z.strictObject({
    name: objectName.describe("Name of the object. At most 253 characters."),
    namespace: namespaceName
      .optional()
      .describe("Namespace of the object. If set, it must be the namespace of the Bundle."),
    ...mountFields,
  }),
  itemsOrPrefix,
);

/** An object in any namespace. */
export const clusterReference = cel(
  z.strictObject({
    name: objectName.describe("Name of the object. At most 253 characters."),
    namespace: namespaceName.describe("Namespace of the object."),
    ...mountFields,
  }),
  itemsOrPrefix,
);

/** A bundle without references would inject nothing, and its author would look for the problem elsewhere. */
export const someReference = {
  rule: "(has(self.entitlements) && size(self.entitlements) > 0) || (has(self.yumRepositories) && size(self.yumRepositories) > 0)",
  message: "at least one of entitlements and yumRepositories must not be empty",
};

/** Each item names two files of up to 253 characters: without a limit on all of them a bundle could have a megabyte. */
export const fewItems = (["entitlements", "yumRepositories"] as const).map((list) => ({
  rule: `!has(self.${list}) || self.${list}.map(each, has(each.items) ? size(each.items) : 0).sum() <= 128`,
  message: `the items of all ${list} together must be at most 128`,
}));

/** The label that makes a bundle apply to pods that do not name it. */
export const ALWAYS_INJECT_LABEL = "subscription.openshift.io/always-inject";

/** The group of Bundle and ClusterBundle. */
export const SUBSCRIPTION_GROUP = "subscription.openshift.io";

/** Columns that both kinds of bundles have. */
export const readyColumns = [
  { name: "Ready", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
  { name: "Reason", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].reason' },
  {
    name: "Message",
    type: "string",
    jsonPath: '.status.conditions[?(@.type=="Ready")].message',
    priority: 1,
  },
] as const;

/** Whether the bundle is injected without being named, and its age. */
export const trailingColumns = [
  { name: "Auto", type: "string", jsonPath: ".metadata.labels.subscription\\.openshift\\.io/always-inject" },
  { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
] as const;
