import { atomicList, map, raw } from "@quartermaster/runtime/schema";
import { z } from "zod";

import { objectNameOrEmpty } from "../object-name.ts";
import { podFields, secretName, secretReference } from "./pod-fields.ts";

const relabelings = atomicList(raw()).optional().describe("Rules as in a ServiceMonitor.");

const stackPartFields = { ...podFields.images, resources: podFields.podLevel.resources };
const stackPart = z.strictObject(stackPartFields).optional();
const grafanaPart = z
  .strictObject({
    ...stackPartFields,
    enable: z.boolean().optional().describe("Whether a standalone stack has a Grafana. Defaults to true."),
  })
  .optional();

const monitoringStack = z
  .strictObject({
    mode: z
      .enum(["None", "Operator", "Standalone"])
      .optional()
      .describe(
        "None: only the exporter, rules and dashboards. Operator: Prometheus and Alertmanager by prometheus-operator. Standalone: Prometheus, Alertmanager and Grafana of the cluster's own. Left out: None where prometheus-operator is served, otherwise Standalone.",
      ),
    receivers: secretReference(
      "Secret with alertmanager.yaml, which says who gets alerts. Left out: alerts are only shown.",
    ),
    retention: z
      .string()
      .regex(/^[1-9][0-9]{0,4}[hdw]$/)
      .default("15d")
      .describe("How long Prometheus keeps figures."),
    claimName: objectNameOrEmpty()
      .optional()
      .describe("PersistentVolumeClaim for the figures. Left out: they go with the pod."),
    prometheus: stackPart.describe("Prometheus."),
    alertmanager: stackPart.describe("Alertmanager."),
    grafana: grafanaPart.describe("Grafana."),
  })
  .optional()
  .describe("Who reads the figures and sends alerts.");

/** How a cluster is monitored. */
export const monitoring = z
  .strictObject({
    enable: z.boolean().optional().describe("Whether the cluster is monitored. Defaults to false."),
    labels: map(z.string()).optional().describe("Labels of the ServiceMonitor."),
    monitoringUserSecret: secretName(),
    ...podFields.images,
    resources: podFields.podLevel.resources,
    stack: monitoringStack,
    pluginUrl: z.string().max(2048).optional().describe("Without effect: an exporter runs beside the nodes."),
    scrapeInterval: z.string().max(64).optional().describe("How often metrics are read. Defaults to 30s."),
    relabelings,
    metricRelabelings: relabelings,
    tlsConfig: z
      .strictObject({
        insecureSkipVerify: z.boolean().optional().describe("Whether certificates go unchecked."),
        serverName: z.string().max(253).optional().describe("Name in the server's certificate."),
      })
      .optional()
      .describe("Without effect: the exporter is read without TLS."),
  })
  .optional()
  .describe(
    "Metrics of the engine: an exporter beside the nodes with a user that cannot write, alert rules and dashboards. Switched on and off without a restart.",
  );
