import { installPlanDomain } from "@quartermaster/install-plan";
import { licensingDomain, type LicensingSettings, licensingSettings } from "@quartermaster/licensing";
import type { Domain } from "@quartermaster/runtime";
import { searchDomain, type SearchDomainOptions } from "@quartermaster/search";
import { subscriptionDomain, type SubscriptionDomainOptions } from "@quartermaster/subscription";

import type { DomainName } from "./settings.ts";

export interface DomainOptions {
  readonly requireAuthor: boolean;
  readonly search?: SearchDomainOptions;
  readonly subscription?: SubscriptionDomainOptions;
  readonly licensing?: LicensingSettings;
}

/** Every part of the suite by its name: what the operator can run, and what its permissions are generated from. */
export function allDomains({
  requireAuthor,
  search = {},
  subscription = {},
  licensing = licensingSettings,
}: DomainOptions): Readonly<Record<DomainName, Domain>> {
  return {
    "install-plan": installPlanDomain({ requireAuthor }),
    licensing: licensingDomain(licensing),
    search: searchDomain(search),
    subscription: subscriptionDomain(subscription),
  };
}
