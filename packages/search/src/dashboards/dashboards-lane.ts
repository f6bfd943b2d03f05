import { digestOf, settled } from "@quartermaster/runtime";
import { configMaps, type Deployment, deployments, services } from "@quartermaster/runtime/kinds";

import { awaits, type LaneVerdict, type LaneRule, nothingToDo, type SearchLane } from "../lane.ts";
import type { DashboardsSettings } from "../model/search-cluster.ts";
import { pruneActions } from "../present-object.ts";
import { searchReasons } from "../reasons.ts";
import { applyAction, type SearchAction } from "../search-action.ts";
import type { Seen } from "../seen.ts";
import { dashboardsNames } from "../workload/dashboards-names.ts";
import { dashboardsConfig } from "./dashboards-config.ts";
import { dashboardsConfigMap, dashboardsDeployment, dashboardsService } from "./dashboards-deployment.ts";

/** Objects no longer needed: switched off, or under an earlier name. */
const prune: LaneRule = {
  name: "prune",
  decide: (seen) => {
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

/** Without an engine it does not start. */
const notYet: LaneRule = {
  name: "notYet",
  decide: ({ cluster, status }) =>
    cluster.dashboards === undefined || status.clusterUuid === undefined ? nothingToDo : undefined,
};

const awaitMaterial: LaneRule = {
  name: "awaitMaterial",
  decide: ({ cluster, dashboards, material }) => {
    if (dashboards.followed === undefined)
      return awaits(
        searchReasons.awaitingMaterial,
        `The spec names for Dashboards what does not exist: ${dashboards.missing.join(", ")}. Create it, or remove the reference.`,
        { actor: "user" },
      );
    const hasLogin = !cluster.security.isEnabled || material.dashboards?.login !== undefined;
    const cert = material.certificates.get("dashboards");
    if (hasLogin && (cert === undefined || cert.pair !== undefined)) return undefined;
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
  decide: (seen) => {
    const { cluster } = seen;
    const settings = cluster.dashboards;
    if (settings === undefined) return undefined;
    const actions: readonly SearchAction[] = [
      applyAction(configMaps, dashboardsConfigMap(cluster, settings), cluster),
      applyAction(services, dashboardsService(cluster, settings), cluster),
      applyAction(deployments, wantedDeployment(seen, settings), cluster),
    ];
    return progress(seen, settings, actions);
  },
};

function wantedDeployment(seen: Seen, settings: DashboardsSettings): Deployment {
  const { cluster, material, dashboards } = seen;
  const inputsHash = digestOf({
    config: dashboardsConfig(cluster, settings),
    followed: dashboards.followed ?? {},
    login: material.dashboards?.version,
    certificate: material.certificates.get("dashboards")?.pair?.certificatePem,
    trust: [material.ca.pair?.certificatePem, ...material.foreignTrust],
  }).slice(0, 32);
  return dashboardsDeployment(cluster, { settings, image: imageNow(seen, settings), inputsHash });
}

/** Comes last in an upgrade: it must not be newer than the engine. */
function imageNow({ status, cluster, dashboards }: Seen, { image }: DashboardsSettings): string {
  const present = dashboards.deployment?.spec.template.spec.containers[0]?.image;
  const isEngineThere = status.version === undefined || status.version === cluster.version;
  return present === undefined || isEngineThere ? image.name : present;
}

function progress(
  { dashboards: { deployment } }: Seen,
  { replicas }: DashboardsSettings,
  actions: readonly SearchAction[],
): LaneVerdict {
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

/** OpenSearch Dashboards or Kibana: created, kept, and deleted when it is switched off. */
export const dashboardsLane: SearchLane = {
  name: "dashboards",
  rules: [prune, notYet, awaitMaterial, keepObjects],
};
