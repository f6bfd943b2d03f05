import { duration, int32, raw } from "@quartermaster/runtime/schema";
import { z } from "zod";

import { secretReference } from "./pod-fields.ts";

const tlsSource = {
  enabled: z
    .boolean()
    .optional()
    .describe(
      "Whether to use TLS. Defaults to true. Security is disabled only if both layers are false. Cannot be changed on a running cluster.",
    ),
  generate: z
    .boolean()
    .optional()
    .describe("Whether the operator issues the certificates. Defaults to true unless secret is set."),
  secret: secretReference(
    "Secret with tls.crt, tls.key and ca.crt, used unless generate is true. A change of its content takes effect without a restart.",
  ),
  caSecret: secretReference(
    "Secret with ca.crt and ca.key of the CA that signs the certificates. Defaults to a CA that the operator creates. For certificates in secret: Secret with ca.crt, unless that one has it.",
  ),
  duration: duration()
    .default("8760h")
    .describe("Validity of the certificates, e.g. 8760h. Defaults to 8760h (a year), which is the maximum."),
  enableHotReload: z
    .boolean()
    .optional()
    .describe("No effect: certificates are always reloaded without a restart where the engine supports it."),
  rotateDaysBeforeExpiry: int32()
    .optional()
    .describe(
      "Number of days before expiry at which a certificate is renewed. Defaults to 30 or a third of its validity, whichever is shorter. -1 means 7. At most half of its validity.",
    ),
  adminDn: z
    .array(z.string().max(1024))
    .max(64)
    .optional()
    .describe("Subjects of client certificates that are administrators. At most 64."),
};

/** Certificates, passwords and security files of a search cluster. */
export const security = z
  .strictObject({
    config: z
      .strictObject({
        adminCredentialsSecret: secretReference(
          "Secret with username and password of the administrator. Defaults to a Secret with a random password that the operator creates.",
        ),
        adminSecret: secretReference(
          "Secret with tls.crt, tls.key and, if needed, ca.crt of a client certificate that the operator uses instead of its own. Its subject must be in adminDn.",
        ),
        operatorClientCert: secretReference("The same as adminSecret, and wins over it."),
        operatorClientServerName: z
          .string()
          .max(253)
          .optional()
          .describe(
            "Name that the operator verifies in the certificates of the nodes. Wins over general.operatorClusterURL.",
          ),
        securityConfigSecret: secretReference(
          "Secret with files of the security plugin, e.g. internal_users.yml: users, roles and mappings are merged into the engine without a restart. At Elasticsearch, Secret with users, users_roles and roles.yml of the file realm.",
        ),
        updateJob: raw().optional().describe("No effect: the operator runs no Job."),
      })
      .optional()
      .describe("Users and roles of the engine."),
    tls: z
      .strictObject({
        http: z
          .strictObject({
            ...tlsSource,
            customFQDN: z.string().max(253).optional().describe("Additional DNS name in the certificate."),
          })
          .optional()
          .describe("TLS between clients and nodes."),
        transport: z
          .strictObject({
            ...tlsSource,
            nodesDn: z
              .array(z.string().max(1024))
              .max(64)
              .optional()
              .describe("Subjects of certificates that are accepted as nodes. At most 64."),
            perNode: z.boolean().optional().describe("No effect: one certificate names all nodes."),
          })
          .optional()
          .describe("TLS between nodes."),
      })
      .optional()
      .describe("TLS for clients and between nodes."),
  })
  .optional()
  .describe(
    "TLS and users. Defaults to TLS on both layers with a CA of the cluster, and a random administrator password.",
  );
