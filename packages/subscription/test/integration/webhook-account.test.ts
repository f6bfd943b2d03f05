import { classify } from "@quartermaster/runtime";
import { connect, eventually } from "@quartermaster/testkit";
import { expect, test } from "vitest";

import { startInjection } from "../support/replica.ts";

test("[security/118] the webhook's account injects bundles with Roles by name, and its token reads nothing else", async () => {
  await using bench = await startInjection({}, undefined, { hasTwoAccounts: true });
  const { namespace, operatorNamespace } = bench;
  await bench.secret("used", "a.pem");
  await bench.configMap("repositories", "a.repo");
  await bench.secret("unused", "b.pem");
  await bench.bundle("local", {
    entitlements: [{ name: "used" }],
    yumRepositories: [{ name: "repositories" }],
  });
  // Created a moment ago: the webhook waits until the controllers have granted it the objects.
  const spec = { automountServiceAccountToken: false };
  const response = await bench.pod("injected", { annotations: { "inject-bundle": "local" }, spec });
  expect(response.object.message ?? "").toBe("");
  expect(response.object.spec?.volumes?.map(({ name }) => name)).toContain("etc-pki-entitlement");

  await using thief = connect(bench.webhook);
  const tried = async (path: string, body?: object): Promise<string> =>
    await thief.transport
      .send({
        ...(body === undefined ? { method: "GET" } : { method: "POST", body }),
        path,
        verb: "try",
        subject: { kind: path },
      })
      .then(() => "allowed", classify);
  const here = `/api/v1/namespaces/${namespace}/secrets`;
  const home = `/api/v1/namespaces/${operatorNamespace}/secrets`;
  expect(await tried(`${here}/used`)).toBe("allowed");
  const token = {
    apiVersion: "v1",
    kind: "Secret",
    type: "kubernetes.io/service-account-token",
    metadata: { name: "stolen", annotations: { "kubernetes.io/service-account.name": "quartermaster" } },
  };
  const seen = {
    "create a token of another account": await tried(home, token),
    "list all Secrets": await tried("/api/v1/secrets"),
    "watch all Secrets": await tried("/api/v1/secrets?watch=true&timeoutSeconds=1"),
    "watch Secrets of the namespace": await tried(`${here}?watch=true&timeoutSeconds=1`),
    "get another Secret": await tried(`${here}/unused`),
    "get another Secret of its own namespace": await tried(`${home}/other`),
  };
  expect(seen).toEqual(Object.fromEntries(Object.keys(seen).map((attempt) => [attempt, "forbidden"])));

  // What a bundle no longer refers to can no longer be read.
  const path = `/apis/subscription.openshift.io/v1alpha1/namespaces/${namespace}/bundles/local`;
  const contentType = "application/merge-patch+json";
  const body = { spec: { entitlements: null } };
  expect((await bench.cluster.api.send({ method: "PATCH", path, contentType, body })).status).toBe(200);
  await eventually(async (see) => see(await tried(`${here}/used`)) === "forbidden", { withinMs: 60_000 });
});
