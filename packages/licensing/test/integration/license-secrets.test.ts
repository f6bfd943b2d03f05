import { clusterLicense } from "@quartermaster/api/licensing";
import { eventually } from "@quartermaster/testkit";
import { expect, test } from "vitest";

import { setUpBench } from "../support/license-bench.ts";
import { makeVendor, signatureText } from "../support/signatures.ts";

const dayMs = 86_400_000;

test("[security/65][security/66] signatures stay in their Secrets, and Secrets of other namespaces are never read", async () => {
  await using bench = await setUpBench({ isOperating: false });
  const position = await bench.cluster.audit.position();
  await bench.operate();
  await bench.createEnterprise("e", [{ uid: "p1" }, { uid: "g1", type: "gold" }]);
  await bench.createCluster("logs");
  await bench.association("logs-license", ({ status }) => status?.state === "Pending");
  await bench.enterprise("e", ({ status }) => status?.used === 1);
  const entries = (await bench.cluster.audit.since(position, {})).filter(
    ({ user }) => user === bench.operator,
  );
  const ofSecrets = entries.filter(({ resource }) => resource === "secrets");
  const outside = ofSecrets.filter(({ namespace, verb }) => namespace !== bench.pool && verb !== "create");
  expect(outside).toEqual([]);
  expect(ofSecrets.filter(({ verb }) => verb === "create").map(({ namespace }) => namespace)).toEqual([
    bench.team,
  ]);
  const signatures = ["outer", "p1", "g1"].map((uid) => signatureText(uid));
  const seats = await Promise.all(
    ["clusterlicenses", "licenseassociations", "enterpriselicenses", "elasticsearchclusters"].map(
      async (plural) => {
        const path = `/apis/elasticsearch.k8s.elastic.co/v1alpha1/${plural}`;
        return (await bench.cluster.api.send({ path })).body;
      },
    ),
  );
  for (const namespace of [bench.team, bench.pool])
    seats.push(
      (await bench.cluster.api.send({ path: `/apis/events.k8s.io/v1/namespaces/${namespace}/events` })).body,
    );
  seats.push((await bench.cluster.api.send({ path: `/api/v1/namespaces/${bench.team}/configmaps` })).body);
  for (const text of signatures)
    expect(seats.filter((location) => location.includes(text) || location.includes(btoa(text)))).toEqual([]);
  const inTeam = (await bench.cluster.api.send({ path: `/api/v1/namespaces/${bench.team}/secrets` })).body;
  expect(signatures.map((text) => inTeam.includes(btoa(text)))).toEqual([false, true, false]);
});

/** An EnterpriseLicense that the vendor signed for ten instances, inside and outside. */
function signedEnterprise(uid: string, signature: (fields: object) => string) {
  const [issueDate, expiryDate] = [Date.now() - 100 * dayMs, Date.now() + 300 * dayMs];
  const dates = { issueDate, expiryDate, issuedTo: "Example", issuer: "API" };
  const signed = { issued_to: "Example", issuer: "API" };
  const times = { issue_date_in_millis: issueDate, expiry_date_in_millis: expiryDate };
  const nested = {
    uid,
    type: "platinum",
    ...times,
    max_nodes: 100,
    ...signed,
    start_date_in_millis: issueDate,
  };
  const outer = {
    uid: `${uid}-outer`,
    type: "enterprise",
    issue_date_in_millis: issueDate,
    start_date_in_millis: issueDate,
    expiry_date_in_millis: expiryDate,
    max_instances: 10,
    ...signed,
  };
  return {
    secrets: [
      { uid: "outer", signature: signature(outer) },
      { uid, signature: signature(nested) },
    ],
    spec: {
      ...dates,
      uid: `${uid}-outer`,
      maxInstances: 10,
      clusterLicenses: [{ ...dates, uid, type: "platinum", maxNodes: 100 }],
    },
  };
}

test("[licensing/N4] a tampered outer license is SignatureInvalid on its own: the good one serves", async () => {
  const { publicKey, signature } = makeVendor();
  await using bench = await setUpBench({ vendorKey: publicKey });
  // The tampered one is first by name, and as good as the other in everything else.
  const [bad, good] = [signedEnterprise("p9", signature), signedEnterprise("p1", signature)];
  await bench.createEnterprise("bad", bad.secrets, { ...bad.spec, maxInstances: 1_000 });
  await bench.createEnterprise("good", good.secrets, good.spec);
  await bench.createCluster("logs");
  await bench.association("logs-license", ({ spec }) => spec.source?.name === "good");
  const found = await bench.enterprise("bad", ({ status }) => status?.state === "Invalid");
  expect(found.status?.conditions?.find(({ type }) => type === "Valid")).toMatchObject({
    status: "False",
    reason: "SignatureInvalid",
  });
  expect(found.status?.nested).toMatchObject([{ uid: "p9", reason: "ParentInvalid" }]);
});

test("a nested license without a well-formed signature is bad on its own", async () => {
  await using bench = await setUpBench();
  await bench.createEnterprise("bad", [{ uid: "p9", daysLeft: 390, signature: "AAAA" }]);
  await bench.createEnterprise("good", [{ uid: "p1", daysLeft: 100 }]);
  await bench.createCluster("logs");
  await bench.association("logs-license", ({ spec }) => spec.source?.name === "good");
  const bad = await bench.enterprise("bad", ({ status }) => status?.nested?.[0]?.state === "Invalid");
  expect(bad.status?.nested).toMatchObject([{ uid: "p9", reason: "SignatureInvalid" }]);
});

test("[licensing/N-opaque] a signature in a Secret of type Opaque works", async () => {
  await using bench = await setUpBench();
  await bench.cluster.api.send({
    method: "POST",
    path: `/api/v1/namespaces/${bench.pool}/secrets`,
    body: {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "opaque" },
      type: "Opaque",
      data: { outer: btoa(signatureText("outer")), p1: btoa(signatureText("p1")), password: btoa("hunter2") },
    },
  });
  await bench.createEnterprise("e", [{ uid: "p1" }], { signatureRef: { name: "opaque", key: "outer" } });
  await bench.createCluster("logs");
  const { spec } = await bench.association("logs-license", (each) => each.spec.source?.name === "e");
  expect(spec.licenseRef.uid).toBe("p1");
});

test("a missing Secret is waited for, and its creation is enough", async () => {
  await using bench = await setUpBench();
  await bench.createEnterprise("e", [{ uid: "p1" }], { signatureRef: { name: "later" } });
  await bench.createCluster("logs");
  const waiting = await bench.enterprise("e", ({ status }) => status?.state === "Invalid");
  expect(waiting.status?.conditions?.find(({ type }) => type === "Valid")?.reason).toBe("SignatureMissing");
  await bench.cluster.api.send({
    method: "POST",
    path: `/api/v1/namespaces/${bench.pool}/secrets`,
    body: {
      metadata: { name: "later" },
      type: "license.k8s.elastic.co/signature",
      stringData: { outer: signatureText("outer"), p1: signatureText("p1") },
    },
  });
  await bench.association("logs-license", ({ spec }) => spec.licenseRef.uid === "p1");
  await eventually(
    async () =>
      (await bench.client.find(clusterLicense.kind, { namespace: bench.team, name: "logs-pool" })) !==
      undefined,
  );
});
