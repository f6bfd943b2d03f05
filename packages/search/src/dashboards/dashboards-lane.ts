import { digestOf, settled } from "@quartermaster/runtime";
import { configMaps, type Deployment, deployments, services } from "@quartermaster/runtime/kinds";

import { awaits, type LaneAnswer, type LaneRule, nothingToDo, type SearchLane } from "../lane.ts";
import type { DashboardsWish } from "../model/search-cluster.ts";
import { pruneActions } from "../present-object.ts";
import { searchReasons } from "../reasons.ts";
import { applyAction, type SearchAction } from "../search-action.ts";
import type { Seen } from "../seen.ts";
import { dashboardsNames } from "../workload/dashboards-names.ts";
import { dashboardsConfig } from "./dashboards-config.ts";
import { dashboardsConfigMap, dashboardsDeployment, dashboardsService } from "./dashboards-deployment.ts";

/** What is not wanted any more: switched off, or under a name that it had before. */
const prune: LaneRule = {
  name: "prune",
  answer: (seen) => {
    const wanted = wantedNames(seen);
    const left = seen.dashboards.present.filter(({ name }) => !wanted.has(name));
    if (left.length === 0) return undefined;
    return awaits(
      searchReasons.dashboardsPending,
      `No longer wanted, and deleted: ${left.map(({ name }) => name).join(", ")}.`,
      { actor: "operator", actions: pruneActions(left, seen.object), retryAfterMs: 5_000 },
    );
  },
};

function wantedNames({ cluster }: Seen): ReadonlySet<string> {
  const { dashboards, security } = cluster;
  if (dashboards === undefined) return new Set();
  const { deployment, service, config, certificate, password } = dashboardsNames(cluster);
  const ownsCertificate = dashboards.isTlsEnabled && dashboards.tlsSecret === undefined;
  return new Set([
    deployment,
    service,
    config,
    ...(ownsCertificate ? [certificate] : []),
    ...(security.isEnabled ? [password] : []),
  ]);
}

/** Without an engine it has nobody to ask. */
const notYet: LaneRule = {
  name: "notYet",
  answer: ({ cluster, status }) =>
    cluster.dashboards === undefined || status.clusterUuid === undefined ? nothingToDo : undefined,
};

const awaitMaterial: LaneRule = {
  name: "awaitMaterial",
  answer: ({ cluster, dashboards, material }) => {
    if (dashboards.followed === undefined)
      return awaits(
        searchReasons.awaitingMaterial,
        `The spec names for Dashboards what does not exist: ${dashboards.missing.join(", ")}. Create it, or remove the reference.`,
        { actor: "user" },
      );
    const hasLogin = !cluster.security.isEnabled || material.dashboards?.login !== undefined;
    const leaf = material.leaves.get("dashboards");
    if (hasLogin && (leaf === undefined || leaf.pair !== undefined)) return undefined;
    return awaits(
      searchReasons.awaitingMaterial,
      "The login or the certificate of Dashboards is not there yet.",
      {
        actor: "operator",
      },
    );
  },
};

const keepObjects: LaneRule = {
  name: "keepObjects",
  answer: (seen) => {
    const { cluster } = seen;
    const wish = cluster.dashboards;
    if (wish === undefined) return undefined;
    const actions: readonly SearchAction[] = [
      applyAction(configMaps, dashboardsConfigMap(cluster, wish), cluster),
      applyAction(services, dashboardsService(cluster, wish), cluster),
      applyAction(deployments, wantedDeployment(seen, wish), cluster),
    ];
    return progress(seen, wish, actions);
  },
};

function wantedDeployment(seen: Seen, wish: DashboardsWish): Deployment {
  const { cluster, material, dashboards } = seen;
  const inputsHash = digestOf({
    config: dashboardsConfig(cluster, wish),
    followed: dashboards.followed ?? {},
    login: material.dashboards?.version,
    certificate: material.leaves.get("dashboards")?.pair?.certificatePem,
    trust: [material.authority.pair?.certificatePem, ...material.foreignTrust],
  }).slice(0, 32);
  return dashboardsDeployment(cluster, { wish, image: imageNow(seen, wish), inputsHash });
}

/** Comes last in an upgrade: it must not be newer than the engine. */
function imageNow({ status, cluster, dashboards }: Seen, { image }: DashboardsWish): string {
  const present = dashboards.deployment?.spec.template.spec.containers[0]?.image;
  const isEngineThere = status.version === undefined || status.version === cluster.version;
  return present === undefined || isEngineThere ? image.name : present;
}

function progress(
  { dashboards: { deployment } }: Seen,
  { replicas }: DashboardsWish,
  actions: readonly SearchAction[],
): LaneAnswer {
  const { observedGeneration, updatedReplicas = 0, availableReplicas = 0 } = deployment?.status ?? {};
  const isSeen = deployment !== undefined && observedGeneration === deployment.metadata.generation;
  if (isSeen && updatedReplicas >= replicas && availableReplicas >= replicas)
    return { actions, outcome: settled() };
  return awaits(
    searchReasons.dashboardsPending,
    `${String(availableReplicas)} of ${String(replicas)} pods of Dashboards are ready.`,
    { actor: "kubelet", actions },
  );
}

/** OpenSearch Dashboards or Kibana: made, kept, and gone when it is switched off. */
export const dashboardsLane: SearchLane = {
  name: "dashboards",
  rules: [prune, notYet, awaitMaterial, keepObjects],
};
