import {
  fieldOf,
  type LabelRequirement,
  meetsAll,
  parseLabelSelector as parse,
  textOf,
} from "@quartermaster/runtime";

/** The CRD has the same limit. */
const lengthLimit = 1_024;

/** As the runtime reads it; undefined also when it is longer than a plan may say. */
export function parseLabelSelector(selector: string): readonly LabelRequirement[] | undefined {
  return selector.length > lengthLimit ? undefined : parse(selector);
}

/** Whether an object's labels meet every demand. */
export function matchesLabels(manifest: unknown, requirements: readonly LabelRequirement[]): boolean {
  const labels = fieldOf(fieldOf(manifest, "metadata"), "labels");
  return meetsAll((key) => textOf(labels, key), requirements);
}
