import { installPlanDomain } from "@quartermaster/install-plan";
import type { Domain } from "@quartermaster/runtime";
import { subscriptionDomain, type SubscriptionDomainOptions } from "@quartermaster/subscription";

import type { DomainName } from "./settings.ts";

/** What the domains are made with. */
export interface DomainOptions {
  readonly requireAuthor: boolean;
  readonly subscription?: SubscriptionDomainOptions;
}

/** Every part of the suite by its name: what the operator can run, and what its permissions are generated from. */
export function allDomains({
  requireAuthor,
  subscription = {},
}: DomainOptions): Readonly<Record<DomainName, Domain>> {
  return {
    "install-plan": installPlanDomain({ requireAuthor }),
    subscription: subscriptionDomain(subscription),
  };
}
