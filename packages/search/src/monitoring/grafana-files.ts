import type { SearchCluster } from "../model/search-cluster.ts";
import { monitoringNames } from "../workload/monitoring-names.ts";
import { hostOf, stackCertificate, stackPorts } from "./prometheus-files.ts";

/** Files of a Grafana of ours. The login is read from its files, never from a variable. */
export function grafanaFiles(cluster: SearchCluster): Readonly<Record<string, string>> {
  const prometheus = hostOf(cluster, monitoringNames(cluster).stack.prometheus, stackPorts.prometheus);
  const datasources = {
    apiVersion: 1,
    datasources: [
      {
        name: "Prometheus",
        uid: "prometheus",
        type: "prometheus",
        access: "proxy",
        url: `https://${prometheus}`,
        isDefault: true,
        editable: false,
        jsonData: { tlsAuthWithCACert: true },
        secureJsonData: { tlsCACert: `$__file{${stackCertificate.ca}}` },
      },
    ],
  };
  const providers = {
    apiVersion: 1,
    providers: [
      {
        name: "quartermaster",
        type: "file",
        allowUiUpdates: false,
        options: { path: "/etc/grafana-dashboards" },
      },
    ],
  };
  return {
    "grafana.ini": grafanaIni,
    "datasources.yaml": JSON.stringify(datasources, undefined, 2),
    "dashboards.yaml": JSON.stringify(providers, undefined, 2),
  };
}

const grafanaIni = `[paths]
data = /var/lib/grafana
plugins = /var/lib/grafana/plugins
provisioning = /etc/grafana-provisioning

[server]
protocol = https
http_port = ${String(stackPorts.grafana)}
cert_file = ${stackCertificate.certificate}
cert_key = ${stackCertificate.key}

[security]
admin_user = $__file{/etc/grafana-login/username}
admin_password = $__file{/etc/grafana-login/password}
disable_gravatar = true

[users]
allow_sign_up = false

[auth.anonymous]
enabled = false

[analytics]
reporting_enabled = false
check_for_updates = false
check_for_plugin_updates = false

[log]
mode = console
`;
