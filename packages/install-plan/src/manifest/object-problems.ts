import { fieldOf, groupOf, isJsonObject, type JsonObject, listOf, textOf } from "@quartermaster/runtime";

/** One thing that is wrong with an object, and where. */
export interface ObjectProblem {
  readonly field: string;
  readonly message: string;
}

/** Labels and annotations of this domain are ours: they prove who owns an object. */
const ownLabels = "install.quartermaster.dev/";

/**
 * All problems of a manifest as such; nothing here depends on the cluster. Names are checked before anything
 * uses them, because they become parts of request paths. Never quotes a value other than names.
 */
export function objectProblems(manifest: unknown): readonly ObjectProblem[] {
  if (!isJsonObject(manifest)) return [{ field: "", message: "a manifest must be an object" }];
  const metadata = fieldOf(manifest, "metadata");
  if (!isJsonObject(metadata))
    return [...typeProblems(manifest), { field: "metadata", message: "must be an object" }];
  return [
    ...typeProblems(manifest),
    ...nameProblems(manifest, metadata),
    ...foreignProblems(metadata),
    ...labelProblems(metadata, "labels"),
    ...labelProblems(metadata, "annotations"),
  ];
}

function typeProblems(manifest: JsonObject): readonly ObjectProblem[] {
  return [
    ...(isApiVersion(textOf(manifest, "apiVersion") ?? "")
      ? []
      : [{ field: "apiVersion", message: "must be <version> or <group>/<version>" }]),
    ...(isKindName(textOf(manifest, "kind") ?? "") ? [] : [{ field: "kind", message: "must name a kind" }]),
  ];
}

function nameProblems(manifest: JsonObject, metadata: JsonObject): readonly ObjectProblem[] {
  const name = fieldOf(metadata, "name");
  const namespace = fieldOf(metadata, "namespace");
  const isNamespace = namespace === undefined || namespace === "" || isTextThat(namespace, isDnsLabel);
  const isName = isTextThat(name, isRbac(manifest) ? isPathSegment : isDnsSubdomain);
  return [
    ...(isName ? [] : [{ field: "metadata.name", message: nameRule(manifest, name) }]),
    ...(isNamespace ? [] : [{ field: "metadata.namespace", message: "must be a DNS label" }]),
  ];
}

function isTextThat(value: unknown, holds: (text: string) => boolean): boolean {
  return typeof value === "string" && holds(value);
}

/** Roles and bindings are called `system:node` and the like; everything else has a DNS name. */
function isRbac(manifest: JsonObject): boolean {
  return groupOf(textOf(manifest, "apiVersion") ?? "") === "rbac.authorization.k8s.io";
}

function nameRule(manifest: JsonObject, name: unknown): string {
  if (name === undefined) return "is required";
  if (isRbac(manifest))
    return "must be 1 to 253 characters without slashes, percent signs and control characters";
  return "must be a DNS subdomain: lowercase letters, digits, dashes and dots";
}

/** Fields that the server or another writer fills in, with what to do about them. */
const foreignFields: ReadonlyMap<string, string> = new Map([
  ["generateName", "is not allowed: objects of a plan need a fixed name; put jobs in stages[].jobs"],
  ["uid", "is set by the API server; remove it"],
  ["resourceVersion", "is set by the API server; remove it"],
  ["managedFields", "is set by the API server; remove it"],
  ["deletionTimestamp", "is set by the API server; remove it"],
  ["deletionGracePeriodSeconds", "is set by the API server; remove it"],
  ["ownerReferences", "is not allowed: the plan owns its objects; remove it"],
  [
    "finalizers",
    "is not allowed: a finalizer is set by the controller that removes it; remove it from the manifest",
  ],
]);

function foreignProblems(metadata: JsonObject): readonly ObjectProblem[] {
  return [...foreignFields]
    .filter(([field]) => !isEmpty(fieldOf(metadata, field)))
    .map(([field, message]) => ({ field: `metadata.${field}`, message }));
}

/** Generators write empty fields; they say nothing and are dropped. */
function isEmpty(value: unknown): boolean {
  return (
    value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0)
  );
}

function labelProblems(metadata: JsonObject, field: "labels" | "annotations"): readonly ObjectProblem[] {
  const ownerLabels = fieldOf(metadata, field);
  if (ownerLabels === undefined || ownerLabels === null) return [];
  if (!isJsonObject(ownerLabels)) return [{ field: `metadata.${field}`, message: "must be an object" }];
  return Object.keys(ownerLabels)
    .filter((key) => key.startsWith(ownLabels))
    .map((key) => ({
      field: `metadata.${field}[${JSON.stringify(key.slice(0, 100))}]`,
      message: "is reserved for Quartermaster; remove it",
    }));
}

/** A DNS label: what namespaces, service accounts and versions are called. */
export function isDnsLabel(name: string): boolean {
  return name.length <= 63 && /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/.test(name);
}

/** A DNS subdomain as Kubernetes has it: 253 characters at most, and no limit for the labels between dots. */
export function isDnsSubdomain(name: string): boolean {
  return (
    name.length <= 253 && name.split(".").every((label) => /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/.test(label))
  );
}

/** A name that stays one segment of a path whatever it is encoded with: the least that any kind demands. */
export function isPathSegment(name: string): boolean {
  if (name === "" || name === "." || name === ".." || name.length > 253) return false;
  // Neither control characters nor halves of surrogates: names end up in logs and terminals.
  return !/[/%]|\p{C}/u.test(name);
}

/** `v1`, `apps/v1`. */
export function isApiVersion(apiVersion: string): boolean {
  const [version = "", group, ...rest] = apiVersion.split("/").toReversed();
  return rest.length === 0 && isDnsLabel(version) && (group === undefined || isDnsSubdomain(group));
}

/** `ConfigMap`; CRDs may use dashes. */
export function isKindName(kind: string): boolean {
  return /^[A-Za-z][-A-Za-z0-9]{0,62}$/.test(kind);
}

/**
 * What is wrong with the template of a stage's job, all of it. A job is code that runs under some account, so it runs under
 * the plan's or not at all; the rest of the pod is for the server and its policies to judge.
 */
export function jobProblems(template: unknown, serviceAccountName: string): readonly ObjectProblem[] {
  const pod = fieldOf(fieldOf(template, "template"), "spec");
  if (!isJsonObject(pod)) {
    return [
      {
        field: "template.spec",
        message: "is required: a job's template is the spec of a Job, with a pod template",
      },
    ];
  }
  return [...endProblems(template, pod), ...accountProblems(pod, serviceAccountName)];
}

/** A job that cannot end would hold the plan up until its deadline. */
function endProblems(template: unknown, pod: unknown): readonly ObjectProblem[] {
  const restartPolicy = fieldOf(pod, "restartPolicy");
  return [
    ...(listOf(pod, "containers").length > 0
      ? []
      : [{ field: "template.spec.containers", message: "must contain at least one container" }]),
    ...(restartPolicy === "Never" || restartPolicy === "OnFailure"
      ? []
      : [{ field: "template.spec.restartPolicy", message: "must be Never or OnFailure" }]),
    ...(fieldOf(template, "suspend") === true
      ? [{ field: "suspend", message: "must not be true: a suspended job never finishes" }]
      : []),
  ];
}

function accountProblems(pod: unknown, serviceAccountName: string): readonly ObjectProblem[] {
  return ["serviceAccountName", "serviceAccount"]
    .filter(
      (field) =>
        ![undefined, null, "", serviceAccountName].some((allowed) => fieldOf(pod, field) === allowed),
    )
    .map((field) => ({
      field: `template.spec.${field}`,
      message: `must be empty or the plan's service account ${serviceAccountName}`,
    }));
}
