import { ApiClient } from "@quartermaster/local-cluster";
import { afterAll, expect, test } from "vitest";

import {
  aConfigMap,
  aDeployment,
  aJob,
  aSecret,
  eventually,
  joinSharedCluster,
  makeIdentity,
  makeNamespace,
  WRITING_VERBS,
} from "../../src/index.ts";

const cluster = joinSharedCluster();
afterAll(() => cluster[Symbol.dispose]());

test("gives each test a namespace of its own", async () => {
  await using one = await makeNamespace(cluster.api);
  await using two = await makeNamespace(cluster.api);
  expect(one.name).not.toBe(two.name);
  expect((await cluster.api.send({ path: `/api/v1/namespaces/${one.name}` })).status).toBe(200);
});

test("lets a test act with exactly the rights it requests, and tells who wrote what", async () => {
  await using namespace = await makeNamespace(cluster.api);
  const rules = [{ apiGroups: [""], resources: ["configmaps"], verbs: ["create", "get"] }];
  const writer = await makeIdentity(cluster.api, cluster.admin, { namespace: namespace.name, rules });
  const reader = await makeIdentity(cluster.api, cluster.admin, { namespace: namespace.name });
  const position = await cluster.audit.position();
  using asWriter = new ApiClient(writer);
  using asReader = new ApiClient(reader);
  const path = `/api/v1/namespaces/${namespace.name}/configmaps`;
  const created = await eventually(async (see) => {
    const response = see(await asWriter.send({ method: "POST", path, body: aConfigMap({ name: "mine" }) }));
    return response.status === 201 ? response : undefined;
  });
  expect(created.status).toBe(201);
  expect((await asReader.send({ path: `${path}/mine` })).status).toBe(403);
  expect((await asWriter.send({ path: `${path}/mine` })).status).toBe(200);

  const writes = await cluster.audit.since(position, { user: writer.user, verbs: WRITING_VERBS });
  expect(writes.filter(({ code }) => code === 201)).toMatchObject([
    { resource: "configmaps", namespace: namespace.name },
  ]);
  expect(await cluster.audit.since(position, { user: reader.user, verbs: WRITING_VERBS })).toEqual([]);
  expect(await cluster.audit.countByVerb(position, { user: reader.user })).toEqual({ get: 1 });
});

test("builds objects that the API server takes", async () => {
  await using namespace = await makeNamespace(cluster.api);
  const at = { namespace: namespace.name };
  const core = `/api/v1/namespaces/${namespace.name}`;
  await cluster.api.apply(`${core}/configmaps/c`, aConfigMap({ name: "c", ...at, data: { a: "b" } }));
  await cluster.api.apply(`${core}/secrets/s`, aSecret({ name: "s", ...at, values: { key: "value" } }));
  await cluster.api.apply(
    `/apis/apps/v1/namespaces/${namespace.name}/deployments/d`,
    aDeployment({ name: "d", ...at, replicas: 2 }),
  );
  await cluster.api.apply(
    `/apis/batch/v1/namespaces/${namespace.name}/jobs/j`,
    aJob({ name: "j", ...at, outcome: "fail" }),
  );
  await eventually(async (see) => {
    const response = see(
      await cluster.api.send({ path: `/apis/batch/v1/namespaces/${namespace.name}/jobs/j/status` }),
    );
    return response.body.includes('"failed":1');
  });
});
