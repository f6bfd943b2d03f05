import type { Controller } from "../controller/define-controller.ts";
import { configurationController } from "../webhook/configuration-controller.ts";
import type { Domain, DomainHost, DomainWebhooks } from "./domain.ts";
import { caRef, type WebhookOptions } from "./webhook-role.ts";

export interface OperatorControllersOptions {
  readonly name: string;
  readonly controllers?: readonly Controller[] | undefined;
  readonly domains?: readonly Domain[] | undefined;
  readonly webhook?: WebhookOptions | undefined;
}

/** All controllers of an operator: its own, those of its domains, and the one that keeps the domains' webhook configurations. */
export function operatorControllers(
  { name, controllers = [], domains = [], webhook }: OperatorControllersOptions,
  host: DomainHost,
  webhooks: readonly DomainWebhooks[],
): readonly Controller[] {
  const own = [...controllers, ...domains.flatMap((domain) => controllersOf(domain, host))];
  const configurations = webhooks.flatMap((each) => each.configurations);
  if (configurations.length === 0) return own;
  if (webhook === undefined) {
    host.log.warn("webhook configurations are not kept: the webhook's address is not known");
    return own;
  }
  const { address, namespace, clusterRole } = webhook;
  const bundle = caRef(name, webhook);
  return [
    ...own,
    configurationController({ configurations, address, bundle, clusterRole, owner: `${namespace}.${name}` }),
  ];
}

function controllersOf(domain: Domain, host: DomainHost): readonly Controller[] {
  const { name, grantedBy } = domain;
  const part = { name, grantedBy };
  return domain.controllers(host).map((controller) => ({ ...controller, domain: part }));
}
