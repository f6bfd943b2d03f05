import { installPlan } from "@quartermaster/api";
import { type Controller, Discovery, type Domain, type DomainPermission } from "@quartermaster/runtime";

import { installPlanController, type InstallPlanOptions } from "./install-plan-controller.ts";
import { resourceManifestController } from "./manifest/resource-manifest-controller.ts";
import { planMetrics } from "./plan-metrics.ts";

/** Options of the domain for an operator. */
export interface InstallPlanDomainOptions {
  /** Nothing is done for plans whose author is not recorded (default: false). */
  readonly requireAuthor?: boolean | undefined;
}

/**
 * Install plans as a part of an operator: InstallPlan and ResourceManifest.
 *
 * @example
 * await run({ name: "quartermaster", domains: [installPlanDomain({ requireAuthor: true })] });
 */
export function installPlanDomain({ requireAuthor = false }: InstallPlanDomainOptions = {}): Domain {
  return {
    name: "install-plan",
    grantedBy: "config/rbac-limited/operator.yaml",
    permissions,
    controllers: ({ system, transport, series, concurrency, namespace, stored }) => {
      return installPlanControllers({
        namespace,
        system,
        concurrency,
        requireAuthor,
        discovery: new Discovery(transport, system),
        observer: planMetrics(series, () => stored({ kind: installPlan.kind, namespace })),
      });
    },
  };
}

const group = "install.quartermaster.dev";

/** Besides these, the operator reads the kinds that plans hold and acts as their accounts: config/rbac-limited grants that by kind and namespace. */
const permissions: readonly DomainPermission[] = [
  {
    reason: "Our own kinds: what is to be done.",
    apiGroups: [group],
    resources: ["installplans", "resourcemanifests"],
    verbs: ["get", "list", "watch"],
  },
  {
    reason: "Finalizers and the handover between plans, status, owner references of manifests.",
    apiGroups: [group],
    resources: ["installplans", "installplans/status", "resourcemanifests", "resourcemanifests/status"],
    verbs: ["patch"],
  },
  {
    reason: "Superseded plans beyond historyLimit.",
    apiGroups: [group],
    resources: ["installplans"],
    verbs: ["delete"],
  },
  {
    reason:
      "By this verb, in the whole cluster, config/policy/status.yaml recognizes who may write the status of our kinds.",
    apiGroups: [group],
    resources: ["installplans"],
    verbs: ["operate"],
  },
  {
    reason: "Some clusters require this to make a plan the owner of a manifest.",
    apiGroups: [group],
    resources: ["installplans/finalizers"],
    verbs: ["update"],
  },
  {
    reason: "Whether those who made plans may still act as the plans' accounts.",
    apiGroups: ["authorization.k8s.io"],
    resources: ["subjectaccessreviews"],
    verbs: ["create"],
  },
];

/**
 * Every controller of the domain: plans, and the manifests that they refer to.
 *
 * @example
 * createManager({ transport, system, controllers: installPlanControllers({ system, discovery }) });
 */
export function installPlanControllers(options: InstallPlanOptions): readonly Controller[] {
  const { namespace, concurrency } = options;
  const location = { namespace };
  return [installPlanController(options), resourceManifestController({ ...location, concurrency })];
}
