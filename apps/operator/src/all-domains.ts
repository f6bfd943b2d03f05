import { installPlanDomain } from "@quartermaster/install-plan";
import type { Domain } from "@quartermaster/runtime";

import type { DomainName } from "./settings.ts";

/** Every part of the suite by its name: what the operator can run, and what its permissions are generated from. */
export function allDomains({
  requireAuthor,
}: {
  readonly requireAuthor: boolean;
}): Readonly<Record<DomainName, Domain>> {
  return { "install-plan": installPlanDomain({ requireAuthor }) };
}
