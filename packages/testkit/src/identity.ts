import { randomBytes } from "node:crypto";

import type { ApiAccess, ApiClient } from "@quartermaster/local-cluster";
import { z } from "zod";

/** A rule of RBAC, as written in a Role. */
export interface PolicyRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

/** Who to act as, and what they may do. */
export interface IdentityRequest {
  readonly namespace: string;
  /** Name of the service account; a random one unless given. */
  readonly name?: string;
  /** Rights within the namespace. */
  readonly rules?: readonly PolicyRule[];
  /** Rights everywhere. */
  readonly clusterRules?: readonly PolicyRule[];
}

/** A service account with exactly the given rights, and a token of it. */
export interface Identity extends Required<ApiAccess> {
  /** `system:serviceaccount:<namespace>:<name>`, as audit and RBAC know it. */
  readonly user: string;
  readonly serviceAccount: string;
}

/** Makes a service account that may do exactly what the rules say. */
export async function makeIdentity(
  api: ApiClient,
  access: ApiAccess,
  request: IdentityRequest,
): Promise<Identity> {
  const {
    namespace,
    name = `actor-${randomBytes(4).toString("hex")}`,
    rules = [],
    clusterRules = [],
  } = request;
  const core = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}`;
  await api.apply(core, { apiVersion: "v1", kind: "ServiceAccount", metadata: { name, namespace } });
  if (rules.length > 0) await bind(api, { namespace, name, rules, scope: "namespace" });
  if (clusterRules.length > 0) await bind(api, { namespace, name, rules: clusterRules, scope: "cluster" });
  const response = await api.send({
    method: "POST",
    path: `${core}/token`,
    body: { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} },
  });
  const { token } = tokenResponse.parse(JSON.parse(response.body)).status;
  return {
    server: access.server,
    caPem: access.caPem,
    token,
    user: `system:serviceaccount:${namespace}:${name}`,
    serviceAccount: name,
  };
}

const tokenResponse = z.object({ status: z.object({ token: z.string() }) });

interface Binding {
  readonly namespace: string;
  readonly name: string;
  readonly rules: readonly PolicyRule[];
  readonly scope: "namespace" | "cluster";
}

async function bind(api: ApiClient, { namespace, name, rules, scope }: Binding): Promise<void> {
  const isCluster = scope === "cluster";
  const prefix = isCluster ? "Cluster" : "";
  const object = isCluster ? `${namespace}-${name}` : name;
  const base = `/apis/rbac.authorization.k8s.io/v1${isCluster ? "" : `/namespaces/${namespace}`}/${prefix.toLowerCase()}role`;
  const metadata = isCluster ? { name: object } : { name: object, namespace };
  const apiVersion = "rbac.authorization.k8s.io/v1";
  await api.apply(`${base}s/${object}`, { apiVersion, kind: `${prefix}Role`, metadata, rules });
  await api.apply(`${base}bindings/${object}`, {
    apiVersion,
    kind: `${prefix}RoleBinding`,
    metadata,
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: `${prefix}Role`, name: object },
    subjects: [{ kind: "ServiceAccount", name, namespace }],
  });
}
