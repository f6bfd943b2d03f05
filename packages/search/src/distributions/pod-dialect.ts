import type { JsonObject } from "@quartermaster/runtime";

import type { Distribution } from "../model/distribution-facts.ts";
import type { Settings } from "../model/read-settings.ts";
import type { NodeRole, SearchCluster } from "../model/search-cluster.ts";

/** Everything in which distributions differ, as far as their pods are concerned. */
export interface PodDialect {
  /** Name of the container, the program and its tools: `<engine>-keystore`, `<engine>-plugin`. */
  readonly engine: Distribution;
  /** Name of the configuration file. */
  readonly settingsFile: string;
  /** Prefix of labels on objects and pods. */
  readonly labelPrefix: string;
  /** Environment variable for options of the JVM. */
  readonly javaOptions: string;
  /** Environment variable for the directory of the configuration. */
  readonly pathConfig: string;
  /** Setting with the names of the first managers. */
  readonly initialManagers: string;
  /** Further variables that the image's entry point reads. */
  readonly environment: Readonly<Record<string, string>>;
  /** Whether users come from files of the configuration's directory. */
  readonly hasFileRealm: boolean;
  roleName(role: NodeRole): string;
  securitySettings(cluster: SearchCluster): Settings;
  /** Request of the readiness probe. */
  readiness(cluster: SearchCluster): JsonObject;
  /** Name of the configuration file of Dashboards or Kibana. */
  readonly dashboardsFile: string;
  /** Settings of Dashboards or Kibana that encrypt its cookies with a key. */
  dashboardsCookies(key: string, isTlsEnabled: boolean): Settings;
}

/** Directory of the certificates within that of the configuration: the engines read files nowhere else. */
export const certificateDirectory = "certificates";
/** Directory of the security plugin's files within that of the configuration. */
export const securityFilesDirectory = "opensearch-security";
/** Directory of the file realm's files within that of the configuration. */
export const fileRealmDirectory = "file-realm";
