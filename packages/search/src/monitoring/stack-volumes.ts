import type { JsonObject } from "@quartermaster/runtime";

import type { StackPart, StackSettings } from "../model/read-monitoring.ts";
import type { SearchCluster } from "../model/search-cluster.ts";
import { monitoringNames } from "../workload/monitoring-names.ts";
import { stackCertificate } from "./prometheus-files.ts";

/** A volume and where its files are. */
interface MountedVolume {
  readonly volume: JsonObject;
  readonly path: string;
  readonly isWritten?: boolean | undefined;
}

export const stackVolumes: Readonly<
  Record<StackPart, (cluster: SearchCluster, stack: StackSettings) => readonly MountedVolume[]>
> = {
  prometheus: (cluster, { claimName }) => {
    const { alerts, stack } = monitoringNames(cluster);
    const claim = { name: "data", persistentVolumeClaim: { claimName } };
    return [
      configFiles(stack.prometheus, "/etc/prometheus"),
      certificate(cluster),
      { volume: { name: "rules", configMap: { name: alerts } }, path: "/etc/prometheus-rules" },
      claimName === undefined
        ? scratch("data", "/prometheus")
        : { volume: claim, path: "/prometheus", isWritten: true },
    ];
  },
  alertmanager: (cluster, { receiversSecret }) => [
    receiversSecret === undefined
      ? configFiles(monitoringNames(cluster).stack.alertmanager, "/etc/alertmanager")
      : { volume: { name: "config", secret: { secretName: receiversSecret } }, path: "/etc/alertmanager" },
    { volume: webVolume(monitoringNames(cluster).stack.alertmanager), path: "/etc/alertmanager-web" },
    certificate(cluster),
    scratch("data", "/alertmanager"),
  ],
  grafana: (cluster) => {
    const { stack, dashboards, grafanaPassword } = monitoringNames(cluster);
    return [
      configFiles(stack.grafana, "/etc/grafana"),
      certificate(cluster),
      { volume: provisioning(stack.grafana), path: "/etc/grafana-provisioning" },
      { volume: { name: "dashboards", configMap: { name: dashboards } }, path: "/etc/grafana-dashboards" },
      { volume: { name: "login", secret: { secretName: grafanaPassword } }, path: "/etc/grafana-login" },
      scratch("data", "/var/lib/grafana"),
      scratch("tmp", "/tmp"),
    ];
  },
};

function configFiles(name: string, path: string): MountedVolume {
  return { volume: { name: "config", configMap: { name } }, path };
}

/** Readable by the group of the pod, which its user is in. */
function certificate(cluster: SearchCluster): MountedVolume {
  const { certificate: secretName } = monitoringNames(cluster);
  const items = ["tls.crt", "tls.key", "ca.crt"].map((key) => ({ key, path: key, mode: 0o440 }));
  return { volume: { name: "certificate", secret: { secretName, items } }, path: stackCertificate.directory };
}

/** Beside the configuration, which may be an author's Secret. */
function webVolume(name: string): JsonObject {
  return { name: "web", configMap: { name, items: [{ key: "web.json", path: "web.json" }] } };
}

function scratch(name: string, path: string): MountedVolume {
  return { volume: { name, emptyDir: {} }, path, isWritten: true };
}

/** Grafana reads each kind of file from a directory of its own. */
function provisioning(name: string): JsonObject {
  const items = ["datasources", "dashboards"].map((each) => ({
    key: `${each}.yaml`,
    path: `${each}/${each}.yaml`,
  }));
  return { name: "provisioning", configMap: { name, items } };
}
