import type { Domain } from "@quartermaster/runtime";
import { expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { z } from "zod";

import { permissionFiles } from "../../src/generate/permission-files.ts";

const texts = z.array(z.string());
const document = z.object({
  kind: z.string(),
  metadata: z.object({ name: z.string(), namespace: z.string().optional() }),
  rules: z
    .array(z.object({ apiGroups: texts, resources: texts, verbs: texts, resourceNames: texts.optional() }))
    .optional(),
});

const plain: Domain = {
  name: "plain",
  permissions: [
    {
      reason: "What is to be done.",
      apiGroups: ["a.example"],
      resources: ["bundles"],
      verbs: ["get", "watch"],
    },
    { reason: "What was done.", apiGroups: ["a.example"], resources: ["bundles/status"], verbs: ["patch"] },
  ],
  controllers: () => [],
};

const withWebhook: Domain = {
  ...plain,
  name: "injecting",
  permissions: [
    {
      reason: "Which pods are meant.",
      role: "webhook",
      apiGroups: ["a.example"],
      resources: ["bundles"],
      verbs: ["get"],
    },
    {
      reason: "Also as a controller.",
      role: "controllers",
      apiGroups: [""],
      resources: ["pods"],
      verbs: ["get"],
    },
  ],
  webhookConfigurations: [{ kind: "mutating", name: "inject" }],
  webhooks: () => ({ configurations: [], routes: () => [] }),
};

function contentOf(domains: readonly Domain[], path: string): string | undefined {
  return permissionFiles(domains).find((file) => file.path === path)?.content;
}

/** Each role with its rules, one line each. */
function rolesIn(content = ""): Readonly<Record<string, readonly string[]>> {
  const roles = parseAllDocuments(content).map((each) => document.parse(each.toJS()));
  return Object.fromEntries(
    roles
      .filter(({ rules }) => rules !== undefined)
      .map(({ kind, metadata, rules = [] }) => [
        `${kind} ${metadata.name}`,
        rules.map(({ resources, verbs, resourceNames = [] }) =>
          [...resources, ...resourceNames.map((name) => `(${name})`), ...verbs].join(" "),
        ),
      ]),
  );
}

test("each rule of a domain stands below its reason", () => {
  expect(contentOf([plain], "config/rbac-limited/operator.yaml")).toContain(
    "  # What was done.\n  # Stolen token: forges what is reported of the objects.\n  - apiGroups: [a.example]\n    resources: [bundles/status]\n    verbs: [patch]\n",
  );
});

/** What the check of the installation reads. */
const installation = [
  "customresourcedefinitions list watch",
  "validatingadmissionpolicies validatingadmissionpolicybindings list watch",
];

test("the set that reads everything leaves out rules that only read", () => {
  expect(rolesIn(contentOf([plain], "config/rbac/operator.yaml"))).toEqual({
    "ClusterRole quartermaster-operator": [
      "* get list watch",
      "serviceaccounts impersonate",
      "bundles/status patch",
      "events create patch",
    ],
    "Role quartermaster-leader": ["leases get create update"],
  });
  expect(rolesIn(contentOf([plain], "config/rbac-limited/operator.yaml"))).toEqual({
    "ClusterRole quartermaster-operator-own": [
      "bundles get watch",
      "bundles/status patch",
      "events create patch",
      ...installation,
    ],
    "Role quartermaster-leader": ["leases get create update"],
  });
});

test("without a webhook there is no account for one", () => {
  expect(permissionFiles([plain]).map(({ path }) => path)).toEqual([
    "config/rbac/operator.yaml",
    "config/rbac-limited/operator.yaml",
  ]);
});

test("the webhook's account has what its role needs and nothing of the controllers'", () => {
  expect(rolesIn(contentOf([plain, withWebhook], "config/rbac/webhook.yaml"))).toEqual({
    "ClusterRole quartermaster-webhook": ["bundles get"],
    "Role quartermaster-webhook": [
      "secrets (quartermaster-webhook-ca) get update",
      "configmaps (quartermaster-webhook-ca) get list watch patch",
      "configmaps (quartermaster-webhook-service-ca) list watch",
    ],
  });
  const controllers = rolesIn(contentOf([plain, withWebhook], "config/rbac-limited/operator.yaml"));
  expect(controllers["ClusterRole quartermaster-operator-own"]).toEqual([
    "bundles get watch",
    "bundles/status patch",
    "pods get",
    "events create patch",
    "mutatingwebhookconfigurations (inject) get list watch update",
    "clusterroles (quartermaster-webhook) get",
    ...installation,
  ]);
  expect(controllers["Role quartermaster-leader"]).toEqual([
    "leases get create update",
    "configmaps (quartermaster-webhook-ca) get list watch",
  ]);
});

test("a binding gives the webhook's roles to its account", () => {
  const content = contentOf([withWebhook], "config/rbac/webhook.yaml") ?? "";
  const kinds = parseAllDocuments(content).map((each) => document.parse(each.toJS()).kind);
  expect(kinds).toEqual(["ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"]);
});
