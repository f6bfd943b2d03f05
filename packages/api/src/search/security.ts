import { duration, int32, raw } from "@quartermaster/runtime/schema";
import { z } from "zod";

import { secretReference } from "./pod-fields.ts";

const tlsSource = {
  enabled: z
    .boolean()
    .optional()
    .describe("Defaults to true. Only false on both layers switches security off."),
  generate: z
    .boolean()
    .optional()
    .describe("Whether the operator issues certificates. Defaults to true unless secret is set."),
  secret: secretReference("Secret with tls.crt, tls.key and ca.crt."),
  caSecret: secretReference(
    "Secret with ca.crt and ca.key that sign, instead of an authority of the operator.",
  ),
  duration: duration().default("8760h").describe("How long certificates hold; at most a year."),
  enableHotReload: z
    .boolean()
    .optional()
    .describe("Accepted; certificates are always replaced without a restart where the engine can."),
  rotateDaysBeforeExpiry: int32()
    .optional()
    .describe(
      "Days before its end that a certificate is replaced. Defaults to 30 or a third of its life, the shorter; -1 means 7.",
    ),
  adminDn: z.array(z.string().max(1024)).max(64).optional().describe("Subjects that are administrators."),
};

/** Certificates, passwords and security files of a search cluster. */
export const security = z
  .strictObject({
    config: z
      .strictObject({
        adminCredentialsSecret: secretReference("Secret with username and password of the administrator."),
        adminSecret: secretReference("Secret with a client certificate of an administrator."),
        operatorClientCert: secretReference("Secret with the operator's client certificate."),
        operatorClientServerName: z
          .string()
          .max(253)
          .optional()
          .describe("Name in the server's certificate."),
        securityConfigSecret: secretReference("Secret with files of the security plugin."),
        updateJob: raw().optional().describe("Without effect: no Job is run."),
      })
      .optional()
      .describe("Users and roles."),
    tls: z
      .strictObject({
        http: z
          .strictObject({
            ...tlsSource,
            customFQDN: z.string().max(253).optional().describe("A further name in the certificate."),
          })
          .optional()
          .describe("TLS for clients."),
        transport: z
          .strictObject({
            ...tlsSource,
            nodesDn: z.array(z.string().max(1024)).max(64).optional().describe("Subjects that are nodes."),
            perNode: z.boolean().optional().describe("Accepted; one certificate names all nodes."),
          })
          .optional()
          .describe("TLS between nodes."),
      })
      .optional()
      .describe("TLS of both layers."),
  })
  .optional()
  .describe("TLS and users. Left out: TLS on both layers and random passwords.");
