import type { KubeObject } from "../object/kube-object.ts";
import { meetsAll, readTerms } from "../object/label-selector.ts";

/** The selectors of a watch. */
interface Selection {
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

/** Whether an object may be among those selected: false when it certainly is not; what only the server knows counts as yes. */
export function mayMatch({
  labelSelector = "",
  fieldSelector = "",
}: Selection): (object: KubeObject) => boolean {
  const demands = readTerms(labelSelector).filter((term) => term !== undefined);
  const names = fieldSelector.split(",").flatMap((term) => readName(term.trim()) ?? []);
  return ({ metadata }) => {
    const labels = new Map(Object.entries(metadata.labels ?? {}));
    return (
      meetsAll((key) => labels.get(key), demands) &&
      names.every(({ field, isEqual, value }) => ((metadata[field] ?? "") === value) === isEqual)
    );
  };
}

interface NameDemand {
  readonly field: "name" | "namespace";
  readonly isEqual: boolean;
  readonly value: string;
}

/** Of the fields of an object only these two are the same in every kind. */
function readName(term: string): NameDemand | undefined {
  const groups = /^metadata\.(?<field>name(?:space)?)\s*(?<sign>==?|!=)\s*(?<value>[\w.-]*)$/.exec(
    term,
  )?.groups;
  if (groups === undefined) return undefined;
  const field = groups["field"] === "name" ? "name" : "namespace";
  return { field, isEqual: groups["sign"] !== "!=", value: groups["value"] ?? "" };
}
