import { flattenList, type PackDocument } from "@quartermaster/install-plan/offline";
import type { KubeObject } from "@quartermaster/runtime";

/** Documents by what they are; Lists, as kubectl writes them, are taken apart. */
export interface OurDocuments {
  readonly plans: readonly PackDocument[];
  readonly manifests: readonly PackDocument[];
  /** Objects of other kinds that stand in the same files, e.g. the plan's namespace and account. */
  readonly others: readonly PackDocument[];
}

/** Sorts documents. What names no kind, or a kind of our group that there is not, counts as a plan: its check says what is wrong. */
export function ourDocuments(documents: readonly PackDocument[]): OurDocuments {
  const groups = Map.groupBy(documents.flatMap(itemsOf), ({ value }) => placeOf(value));
  return {
    plans: groups.get("plans") ?? [],
    manifests: groups.get("manifests") ?? [],
    others: groups.get("others") ?? [],
  };
}

function itemsOf(document: PackDocument): readonly PackDocument[] {
  const flattened = flattenList(document.value);
  if (flattened.kind === "refused") return [document];
  return flattened.items.map((value) => ({ ...document, value }));
}

function placeOf(value: unknown): keyof OurDocuments {
  const { apiVersion, kind } =
    typeof value === "object" && value !== null ? (value as Partial<KubeObject>) : {};
  if (typeof apiVersion !== "string" || typeof kind !== "string") return "plans";
  if (kind === "InstallPlan") return "plans";
  if (!apiVersion.startsWith("install.quartermaster.dev/")) return "others";
  return kind === "ResourceManifest" ? "manifests" : "plans";
}
