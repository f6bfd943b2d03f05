import { settled } from "@quartermaster/runtime";
import { configMaps, networkPolicies, podDisruptionBudgets, services } from "@quartermaster/runtime/kinds";

import type { LaneRule, SearchLane } from "../lane.ts";
import { applyAction } from "../search-action.ts";
import { clusterConfigMaps } from "../workload/cluster-config-maps.ts";
import { clusterServices } from "../workload/cluster-services.ts";
import { disruptionBudgets } from "./disruption-budgets.ts";
import { networkPolicy } from "./network-policy.ts";

/** Applied always; the runtime writes only what differs. */
const keepObjects: LaneRule = {
  name: "keepObjects",
  answer: (seen) => {
    const { cluster } = seen;
    return {
      actions: [
        ...clusterServices(cluster).map((service) => applyAction(services, service, cluster)),
        ...clusterConfigMaps(cluster).map((config) => applyAction(configMaps, config, cluster)),
        ...(cluster.networkPolicy.isEnabled
          ? [applyAction(networkPolicies, networkPolicy(cluster), cluster)]
          : []),
        ...disruptionBudgets(seen).map((budget) => applyAction(podDisruptionBudgets, budget, cluster)),
      ],
      outcome: settled(),
    };
  },
};

/** Services, configuration, network policy and disruption budgets. */
export const supportingObjectsLane: SearchLane = { name: "objects", rules: [keepObjects] };
