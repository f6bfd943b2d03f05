import { eventually, joinSharedCluster, makeIdentity, makeNamespace } from "@quartermaster/testkit";
import { afterAll, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";

import { type } from "../support/user.ts";

const cluster = joinSharedCluster();

afterAll(() => {
  cluster[Symbol.dispose]();
});

interface Role {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace: string };
}

test("[install-plan/134] the roles that are printed are all that the account of a plan needs, and the rest is named", async () => {
  await using namespace = await makeNamespace(cluster.api, "cli-rbac");
  const rules = [{ apiGroups: [""], resources: ["secrets"], verbs: ["list"] }];
  await makeIdentity(cluster.api, cluster.admin, { namespace: namespace.name, name: "installer", rules });
  const options = { env: { KUBECONFIG: cluster.kubeconfigPath } };
  const location = ["-n", namespace.name];
  const input = JSON.stringify({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "settings" },
    data: {},
  });
  const pack = ["pack", "-", "--name", "shop", "--service-account", "installer", "--apply", ...location];
  expect(await type(pack, { ...options, input })).toMatchObject({ code: 0 });

  const { code, out, err } = await type(["rbac", "shop", ...location], options);
  expect(code).toBe(0);
  expect(err).toBe(`service account installer has more than these roles: list secrets in ${namespace.name}`);
  const roles = parseAllDocuments(out).map((document) => document.toJS() as Role);
  expect(roles).toMatchObject([
    {
      kind: "Role",
      rules: [
        {
          apiGroups: [""],
          resources: ["configmaps"],
          resourceNames: ["settings"],
          verbs: ["create", "delete", "get", "patch"],
        },
      ],
    },
    {
      kind: "RoleBinding",
      subjects: [{ kind: "ServiceAccount", name: "installer", namespace: namespace.name }],
    },
  ]);
  for (const role of roles) {
    const plural = `${role.kind.toLowerCase()}s`;
    const path = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace.name}/${plural}`;
    expect((await cluster.api.send({ method: "POST", path, body: role })).status).toBe(201);
  }
  const user = `system:serviceaccount:${namespace.name}:installer`;
  await eventually(async (see) => {
    const spec = {
      user,
      resourceAttributes: {
        namespace: namespace.name,
        verb: "patch",
        resource: "configmaps",
        name: "settings",
      },
    };
    const path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
    const { body } = await cluster.api.send({ method: "POST", path, body: { spec } });
    return see(JSON.parse(body) as { status: { allowed: boolean } }).status.allowed;
  });
});
