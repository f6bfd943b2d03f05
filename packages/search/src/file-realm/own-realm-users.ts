import { operatorUser } from "../model/cluster-names.ts";
import { dashboardsUser } from "../workload/dashboards-names.ts";
import { monitoringUser } from "../workload/monitoring-names.ts";

/** Accounts of the file realm that the operator makes: no author may take their names. */
export const ownRealmUsers: ReadonlySet<string> = new Set([operatorUser, dashboardsUser, monitoringUser]);
