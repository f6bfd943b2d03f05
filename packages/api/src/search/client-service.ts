import { map } from "@quartermaster/runtime/schema";
import { z } from "zod";

/** Service for clients. */
export const clientService = z
  .strictObject({
    type: z
      .enum(["ClusterIP", "NodePort", "LoadBalancer"])
      .optional()
      .describe("Type of the Service. Defaults to ClusterIP."),
    annotations: map(z.string()).optional().describe("Annotations of the Service."),
    labels: map(z.string()).optional().describe("Labels of the Service."),
    loadBalancerClass: z
      .string()
      .max(317)
      .regex(/^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/)
      .optional()
      .describe("Class of the load balancer, for type LoadBalancer. Kubernetes does not change it later."),
    externalTrafficPolicy: z
      .enum(["Cluster", "Local"])
      .optional()
      .describe(
        "Whether traffic from outside goes to all nodes or to those of the machine that it reaches, for types NodePort and LoadBalancer. Defaults to Cluster.",
      ),
    loadBalancerSourceRanges: z
      .array(z.string())
      .max(64)
      .optional()
      .describe("CIDRs that may connect, for type LoadBalancer. At most 64."),
  })
  .optional()
  .describe("Service for clients, named serviceName.");
