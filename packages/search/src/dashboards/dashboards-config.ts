import { serverNameOf } from "../certificates/wanted-certificates.ts";
import { podDialect } from "../distributions/distributions.ts";
import { encodeSettings, readSettings, type Settings } from "../model/read-settings.ts";
import type { DashboardsSettings, SearchCluster } from "../model/search-cluster.ts";
import { dashboardsPort } from "../workload/dashboards-names.ts";

/** Where its files are. */
export const dashboardsDirectories = {
  /** Whom it trusts when it talks to the engine. */
  trust: "/certificates/engine",
  /** Its own certificate. */
  certificate: "/certificates/server",
} as const;

/** Variables that its configuration names. Not those that the images' entry points turn into arguments, which every user can read. */
export const dashboardsVariables = {
  username: "QM_DASHBOARDS_USERNAME",
  password: "QM_DASHBOARDS_PASSWORD",
  cookie: "QM_DASHBOARDS_COOKIE",
} as const;

const cookieKey = `\${${dashboardsVariables.cookie}}`;

/** Its configuration file. Where the engine is and whom it trusts is ours; authors may say everything else. */
export function dashboardsConfig(cluster: SearchCluster, settings: DashboardsSettings): string {
  return encodeSettings({
    ...served(cluster, settings),
    ...(cluster.security.isEnabled
      ? podDialect(cluster).dashboardsCookies(cookieKey, settings.isTlsEnabled)
      : {}),
    ...readSettings(settings.config).settings,
    ...reached(cluster),
  });
}

function served({ name }: SearchCluster, { basePath, isTlsEnabled }: DashboardsSettings): Settings {
  const { certificate } = dashboardsDirectories;
  return {
    "server.name": `${name}-dashboards`,
    "server.host": "0.0.0.0",
    "server.port": dashboardsPort,
    ...(basePath === undefined ? {} : { "server.basePath": basePath, "server.rewriteBasePath": true }),
    "server.ssl.enabled": isTlsEnabled,
    ...(isTlsEnabled
      ? { "server.ssl.certificate": `${certificate}/tls.crt`, "server.ssl.key": `${certificate}/tls.key` }
      : {}),
  };
}

function reached(cluster: SearchCluster): Settings {
  const { distribution, httpPort, security } = cluster;
  const isTls = security.isEnabled && security.http.isEnabled;
  const { username, password } = dashboardsVariables;
  return {
    [`${distribution}.hosts`]: [`${isTls ? "https" : "http"}://${serverNameOf(cluster)}:${String(httpPort)}`],
    ...(isTls
      ? {
          [`${distribution}.ssl.verificationMode`]: "full",
          [`${distribution}.ssl.certificateAuthorities`]: [`${dashboardsDirectories.trust}/ca.crt`],
        }
      : {}),
    ...(security.isEnabled
      ? { [`${distribution}.username`]: `\${${username}}`, [`${distribution}.password`]: `\${${password}}` }
      : {}),
  };
}
