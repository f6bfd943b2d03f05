import { atomicList, map, raw } from "@quartermaster/runtime/schema";
import { z } from "zod";

import { objectNameOrEmpty } from "../object-name.ts";
import { podFields, secretName, secretReference } from "./pod-fields.ts";

const relabelings = atomicList(raw())
  .optional()
  .describe(
    "Relabeling rules, as in a ServiceMonitor. Allowed actions are replace, keep, drop, labeldrop, labelkeep, lowercase and uppercase. targetLabel must not be namespace or cluster, or start with __.",
  );

const stackPartFields = { ...podFields.images, resources: podFields.podLevel.resources };
const stackPart = z.strictObject(stackPartFields).optional();
const grafanaPart = z
  .strictObject({
    ...stackPartFields,
    enable: z.boolean().optional().describe("Whether a standalone stack includes Grafana. Defaults to true."),
  })
  .optional();

const monitoringStack = z
  .strictObject({
    mode: z
      .enum(["None", "Operator", "Standalone"])
      .optional()
      .describe(
        "Which Prometheus reads the metrics. None: your own; the operator creates only exporter, rules and dashboards. Operator: Prometheus and Alertmanager as objects of prometheus-operator. Standalone: Prometheus, Alertmanager and Grafana for this cluster. Defaults to None where prometheus-operator is served, otherwise Standalone.",
      ),
    receivers: secretReference(
      "Secret with alertmanager.yaml, which configures receivers of alerts. Defaults to none: alerts are only shown.",
    ),
    retention: z
      .string()
      .regex(/^[1-9][0-9]{0,4}[hdw]$/)
      .default("15d")
      .describe("How long Prometheus keeps metrics, in hours, days or weeks, e.g. 15d. Defaults to 15d."),
    claimName: objectNameOrEmpty()
      .optional()
      .describe(
        "Name of a PersistentVolumeClaim for the data of a standalone Prometheus. Defaults to none: the data is lost with the pod.",
      ),
    prometheus: stackPart.describe("Image and resources of Prometheus."),
    alertmanager: stackPart.describe("Image and resources of Alertmanager."),
    grafana: grafanaPart.describe("Image and resources of Grafana."),
  })
  .optional()
  .describe("Programs that read the metrics and send alerts.");

/** How a cluster is monitored. */
export const monitoring = z
  .strictObject({
    enable: z
      .boolean()
      .optional()
      .describe(
        "Whether to monitor the cluster. Defaults to false. Takes effect without a restart of nodes.",
      ),
    labels: map(z.string())
      .optional()
      .describe("Labels of the ServiceMonitor, which your Prometheus selects by."),
    monitoringUserSecret: secretName(),
    ...podFields.images,
    resources: podFields.podLevel.resources,
    stack: monitoringStack,
    pluginUrl: z.string().max(2048).optional().describe("No effect: an exporter replaces the plugin."),
    scrapeInterval: z
      .string()
      .max(64)
      .optional()
      .describe("Interval between two scrapes, e.g. 30s. Defaults to 30s."),
    relabelings,
    metricRelabelings: relabelings,
    tlsConfig: z
      .strictObject({
        insecureSkipVerify: z.boolean().optional().describe("No effect."),
        serverName: z.string().max(253).optional().describe("No effect."),
      })
      .optional()
      .describe("No effect: the exporter serves plain HTTP."),
  })
  .optional()
  .describe(
    "Monitoring of the cluster: an exporter with a read-only user, alert rules and dashboards. Can be enabled and disabled without a restart.",
  );
