import { duration, int32, map } from "@quartermaster/runtime/schema";
import { z } from "zod";

import { additionalVolumes, plugins, podFields, secretReference, settings } from "./pod-fields.ts";

/** OpenSearch Dashboards or Kibana. */
export const dashboards = z
  .strictObject({
    enable: z
      .boolean()
      .optional()
      .describe(
        "Whether to run it. Defaults to false. If set back to false, the operator deletes everything that belongs to it.",
      ),
    version: z
      .string()
      .max(64)
      .optional()
      .describe(
        "Version of the image. Defaults to the version of the cluster. A newer version waits until every node runs it.",
      ),
    replicas: int32().min(0).max(100).default(1).describe("Number of pods. Defaults to 1."),
    additionalConfig: settings().describe(
      "Settings for its configuration file. A change restarts its pods. At most 500.",
    ),
    additionalVolumes,
    basePath: z
      .string()
      .max(1024)
      .optional()
      .describe("Path that it is served under, e.g. /dashboards. Defaults to the root."),
    ...podFields.images,
    opensearchCredentialsSecret: secretReference(
      "Secret with username and password that it uses to log in to the engine. Defaults to a user that the operator creates.",
    ),
    opensearchDashboardsHome: z
      .string()
      .max(1024)
      .optional()
      .describe("Directory of the program in its image. Defaults to that of the official image."),
    pluginsList: plugins.describe(
      "Plugins to install when a pod starts, by name or URL. A change restarts its pods. At most 64.",
    ),
    service: z
      .strictObject({
        type: z
          .enum(["ClusterIP", "NodePort", "LoadBalancer"])
          .default("ClusterIP")
          .describe("Type of the Service. Defaults to ClusterIP."),
        labels: map(z.string()).optional().describe("Labels of the Service."),
        loadBalancerSourceRanges: z
          .array(z.string())
          .optional()
          .describe("CIDRs that may connect, for type LoadBalancer."),
      })
      .optional()
      .describe("Service for its users."),
    tls: z
      .strictObject({
        enable: z.boolean().optional().describe("Whether it serves TLS. Defaults to false."),
        generate: z
          .boolean()
          .optional()
          .describe("Whether the operator issues the certificate. Defaults to true unless secret is set."),
        secret: secretReference("Secret with tls.crt and tls.key, used if generate is not true."),
        caSecret: secretReference(
          "Secret with ca.crt and ca.key of the CA that signs the certificate. Defaults to the CA of the cluster.",
        ),
        duration: duration()
          .default("8760h")
          .describe(
            "Validity of the certificate, e.g. 8760h. Defaults to 8760h (a year), which is the maximum.",
          ),
        enableHotReload: z
          .boolean()
          .optional()
          .describe("No effect: its pods are replaced one at a time when the certificate changes."),
      })
      .optional()
      .describe("TLS of its port."),
    ...podFields.podLevel,
    ...podFields.spread,
    ...podFields.contexts,
  })
  .optional();
