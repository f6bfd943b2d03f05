import { reasons, type Problem } from "../reasons.ts";

/** The annotations of pods that we read and write. */
export const annotations = {
  injectBundle: "subscription.openshift.io/inject-bundle",
  injectClusterBundle: "subscription.openshift.io/inject-cluster-bundle",
  allowBundles: "subscription.openshift.io/allow-bundles",
  denyBundles: "subscription.openshift.io/deny-bundles",
  allowClusterBundles: "subscription.openshift.io/allow-cluster-bundles",
  denyClusterBundles: "subscription.openshift.io/deny-cluster-bundles",
  /** Ours to write: the injected bundles with their generations. */
  generations: "subscription.openshift.io/bundle-generations",
  /** Ours to write: names of the volumes that we added, so that a later call does not take another client's for one of them. */
  volumes: "subscription.openshift.io/injected-volumes",
  /** The kubelet's, on pods that only mirror a static pod. */
  mirror: "kubernetes.io/config.mirror",
} as const;

/** Annotations of a pod. */
export type Annotations = Readonly<Record<string, string>>;

/** Names in the order given, each once; or what is wrong with the annotation. */
export type NameList =
  | { readonly kind: "names"; readonly names: readonly string[] }
  | { readonly kind: "problem"; readonly problem: Problem };

/** Reads the bundles that a pod names. A name that no object can have is refused: it is a slip. */
export function readInjectList(given: Annotations, annotation: string): NameList {
  const list = readList(given, annotation);
  if (list.kind === "problem") return list;
  const wrong = list.names.find((name) => !isObjectName(name));
  return wrong === undefined
    ? list
    : problem(
        annotation,
        "contains a value that is not the name of a bundle; write names separated by commas",
      );
}

/** Reads an allow or deny list; what no object can be called stands there without effect. Undefined when it is not given. */
export function readFilterList(given: Annotations, annotation: string): NameList | undefined {
  const text = valueOf(given, annotation);
  return text === undefined || text.trim() === "" ? undefined : readList(given, annotation);
}

/** Own fields only: annotations are anybody's words. */
export function valueOf(given: Annotations, annotation: string): string | undefined {
  return Object.hasOwn(given, annotation) ? given[annotation] : undefined;
}

const lengthLimit = 4096;
const nameLimit = 32;

function readList(given: Annotations, annotation: string): NameList {
  const text = valueOf(given, annotation) ?? "";
  if (text.length > lengthLimit) return problem(annotation, `is longer than ${lengthLimit} characters`);
  const names = new Set(
    text
      .split(",")
      .map((name) => name.trim())
      .filter((name) => name !== ""),
  );
  if (names.size > nameLimit) return problem(annotation, `names more than ${nameLimit} bundles`);
  return { kind: "names", names: [...names] };
}

function problem(annotation: string, issue: string): NameList {
  const text = `annotation "${annotation}" ${issue}`;
  return { kind: "problem", problem: { reason: reasons.invalidAnnotation, text } };
}

function isObjectName(name: string): boolean {
  return (
    name.length <= 253 && /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/.test(name)
  );
}
