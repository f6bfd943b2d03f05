import { readFileSync } from "node:fs";
import { join } from "node:path";

import { classify } from "@quartermaster/runtime";
import {
  connect,
  joinSharedCluster,
  makeIdentity,
  makeNamespace,
  type PolicyRule,
  type SharedCluster,
} from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";

const root = join(import.meta.dirname, "../../../..");

interface Shipped {
  readonly kind: string;
  readonly rules?: readonly PolicyRule[];
}

/** An account with the rules of the shipped file: those of Roles count in a namespace of the test. */
async function shippedAccount(
  cluster: SharedCluster,
  { file, namespace }: { readonly file: string; readonly namespace: string },
): Promise<AsyncDisposable & { tried(attempt: Attempt): Promise<string> }> {
  const documents = parseAllDocuments(readFileSync(join(root, file), "utf8"));
  const shipped = documents.map((document) => document.toJS() as Shipped);
  const rulesOf = (kind: string): readonly PolicyRule[] =>
    shipped.filter((each) => each.kind === kind).flatMap(({ rules = [] }) => rules);
  const identity = await makeIdentity(cluster.api, cluster.admin, {
    namespace,
    rules: rulesOf("Role"),
    clusterRules: rulesOf("ClusterRole"),
  });
  const connection = connect(identity);
  return {
    tried: async ({ method = "GET", path, body }) =>
      await connection.transport
        .send({ method, path, verb: "try", subject: { kind: path }, ...(body === undefined ? {} : { body }) })
        .then(() => "allowed", classify),
    [Symbol.asyncDispose]: async () => await connection[Symbol.asyncDispose](),
  };
}

interface Attempt {
  readonly method?: "GET" | "POST" | "PUT" | "DELETE";
  readonly path: string;
  readonly body?: object;
}

const configurations = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";
const configuration = (name: string): object => ({
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "MutatingWebhookConfiguration",
  metadata: { name },
});
const secrets = (namespace: string): string => `/api/v1/namespaces/${namespace}/secrets`;
const token = {
  apiVersion: "v1",
  kind: "Secret",
  type: "kubernetes.io/service-account-token",
  metadata: { name: "stolen", annotations: { "kubernetes.io/service-account.name": "quartermaster" } },
};

/** What the token of each account must not give: the attempts are denied by RBAC, before anything else. */
const attacks = [
  {
    file: "config/rbac/webhook.yaml",
    id: "[security/118]",
    attempts: (namespace: string): Record<string, Attempt> => ({
      "create a token of another account": { method: "POST", path: secrets(namespace), body: token },
      "list Secrets of all namespaces": { path: "/api/v1/secrets" },
      "watch Secrets of all namespaces": { path: "/api/v1/secrets?watch=true&timeoutSeconds=1" },
      "get a Secret of its namespace": { path: `${secrets(namespace)}/other` },
      "get a ConfigMap of another namespace": { path: "/api/v1/namespaces/kube-system/configmaps/any" },
      "replace another Secret": { method: "PUT", path: `${secrets(namespace)}/stolen`, body: token },
      "create a webhook configuration": { method: "POST", path: configurations, body: configuration("any") },
    }),
  },
  ...["config/rbac-limited/operator.yaml", "config/rbac/operator.yaml"].map((file) => ({
    file,
    id: "[security/125]",
    attempts: (): Record<string, Attempt> => ({
      "create a webhook configuration": { method: "POST", path: configurations, body: configuration("any") },
      "create its own": {
        method: "POST",
        path: configurations,
        body: configuration("quartermaster-subscription"),
      },
      "replace one of another name": {
        method: "PUT",
        path: `${configurations}/any`,
        body: configuration("any"),
      },
      "delete its own": { method: "DELETE", path: `${configurations}/quartermaster-subscription` },
      "create a validating one": {
        method: "POST",
        path: configurations.replace("mutating", "validating"),
        body: { ...configuration("any"), kind: "ValidatingWebhookConfiguration" },
      },
    }),
  })),
  {
    file: "deploy/share-driver.yaml",
    id: "[security/121]",
    attempts: (namespace: string): Record<string, Attempt> => ({
      "list Secrets of all namespaces": { path: "/api/v1/secrets" },
      "watch Secrets of all namespaces": { path: "/api/v1/secrets?watch=true&timeoutSeconds=1" },
      "get a Secret that no bundle shares": { path: `${secrets(namespace)}/other` },
      "create a token of another account": { method: "POST", path: secrets(namespace), body: token },
      "create a Share": {
        method: "POST",
        path: "/apis/projectedresource.storage.openshift.io/v1alpha1/shares",
        body: { kind: "Share" },
      },
    }),
  },
];

describe("a stolen token", () => {
  test.each(attacks)("$id of $file gives none of what RBAC can withhold", async ({ file, attempts }) => {
    using cluster = joinSharedCluster();
    await using namespace = await makeNamespace(cluster.api, "stolen");
    await using thief = await shippedAccount(cluster, { file, namespace: namespace.name });
    const tried = Object.entries(attempts(namespace.name));
    const responses: Record<string, string> = {};
    for (const [name, attempt] of tried) responses[name] = await thief.tried(attempt);
    expect(responses).toEqual(Object.fromEntries(tried.map(([name]) => [name, "forbidden"])));
  });
});
