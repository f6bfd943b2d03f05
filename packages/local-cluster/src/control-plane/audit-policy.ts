/** How much of each request the audit log keeps; the API server's own levels. */
export type AuditLevel = "Metadata" | "Request" | "RequestResponse";

/** A complete audit.k8s.io/v1 Policy, or just the level that every request is logged at. */
export type AuditPolicy = AuditLevel | Readonly<Record<string, unknown>>;

/** The policy document. Each request is logged once, when it is answered; a watch also when it starts. */
export function auditPolicyDocument(policy: AuditPolicy): Readonly<Record<string, unknown>> {
  if (typeof policy !== "string") return policy;
  return {
    apiVersion: "audit.k8s.io/v1",
    kind: "Policy",
    omitStages: ["RequestReceived"],
    rules: [{ level: policy }],
  };
}
