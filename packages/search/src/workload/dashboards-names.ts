import type { SearchCluster } from "../model/search-cluster.ts";

/** Names of what Dashboards or Kibana of a cluster is made of; upstream's. */
export interface DashboardsNames {
  readonly deployment: string;
  readonly service: string;
  readonly config: string;
  readonly certificate: string;
  /** Its login, and the key of its cookies. */
  readonly password: string;
}

/** The names for one cluster. */
export function dashboardsNames({
  name,
  serviceName,
}: Pick<SearchCluster, "name" | "serviceName">): DashboardsNames {
  return {
    deployment: `${name}-dashboards`,
    service: `${serviceName}-dashboards`,
    config: `${name}-dashboards-config`,
    certificate: `${name}-dashboards-cert`,
    password: `${name}-dashboards-password`,
  };
}

/** The account that it logs in with, unless the author names another. */
export const dashboardsUser = "quartermaster-dashboards";

/** Key of its Secret with the key of the cookies: all replicas need the same. */
export const cookieKey = "cookie";

/** Port that it serves. */
export const dashboardsPort = 5601;

/** Labels that select its pods. They have no label of the engine's: the Service for clients must not find them. */
export function dashboardsLabels({ name }: Pick<SearchCluster, "name">): Readonly<Record<string, string>> {
  return { "search.quartermaster.dev/dashboards": name };
}
