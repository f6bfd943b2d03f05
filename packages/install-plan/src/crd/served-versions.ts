import { fieldOf, listOf, textOf } from "@quartermaster/runtime";

/** Whether the server has taken the CRD up: established, and its names are nobody else's. */
export function isEstablished(crd: unknown): boolean {
  return holds(crd, "Established") && holds(crd, "NamesAccepted");
}

/** The versions that the CRD serves, in its own order. They are in discovery only once it is established. */
export function servedVersions(crd: unknown): readonly string[] {
  return listOf(fieldOf(crd, "spec"), "versions").flatMap((version) => {
    const name = textOf(version, "name");
    return name !== undefined && fieldOf(version, "served") === true ? [name] : [];
  });
}

/** Whether a live CRD serves the version. An old CRD is established before a new version of it is; ask discovery too. */
export function isServed(crd: unknown, version: string): boolean {
  return isEstablished(crd) && servedVersions(crd).includes(version);
}

function holds(crd: unknown, type: string): boolean {
  return listOf(fieldOf(crd, "status"), "conditions").some(
    (condition) => textOf(condition, "type") === type && textOf(condition, "status") === "True",
  );
}
