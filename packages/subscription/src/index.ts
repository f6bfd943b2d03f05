export { bundleControllers, bundlePermissions } from "./bundle-controllers.ts";
export type { BundleControllersOptions } from "./bundle-controllers.ts";
export { injectionMetrics } from "./injection-metrics.ts";
export type { InjectionObserver } from "./injection-metrics.ts";
export { reasons } from "./reasons.ts";
export { subscriptionDomain } from "./subscription-domain.ts";
export type { SubscriptionDomainOptions } from "./subscription-domain.ts";
export { readSubscriptionSettings, SubscriptionSettingsError } from "./subscription-settings.ts";
export type { SubscriptionSettings } from "./subscription-settings.ts";
