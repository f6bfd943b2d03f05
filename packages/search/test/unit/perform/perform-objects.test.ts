import { openSearchCluster, opsterOpenSearchCluster } from "@quartermaster/api";
import { digestOf, type Kind } from "@quartermaster/runtime";
import { issueCa } from "@quartermaster/runtime/certificates";
import {
  nodes,
  configMaps,
  deployments,
  persistentVolumeClaims,
  secrets,
  statefulSets,
} from "@quartermaster/runtime/kinds";
import { describe, expect, test } from "vitest";

import { managerOf } from "../../../src/handover/predecessor.ts";
import { ownerLabels } from "../../../src/owner-labels.ts";
import type { OperationAction, SearchAction } from "../../../src/search-action.ts";
import { benchMs, type BenchOptions, type PerformBench, performBench } from "../../support/perform-bench.ts";
import { type EngineActionKind, performed, type PerformRow, wanted } from "../../support/perform-rows.ts";

const ca = await issueCa({
  subject: { commonName: "ca", organizationalUnits: [], organizations: [] },
  serial: "01",
  validity: { notBeforeMs: benchMs, notAfterMs: benchMs + 86_400_000 },
});

const claim = "data-logs-nodes-0";
const claimUid = "uid-claim-logs-nodes-0";

function secret(name: string, labels: Readonly<Record<string, string>> = {}, more: object = {}): Stored {
  const metadata = { name, namespace: "team", uid: `uid-${name}`, labels, ...more };
  return { kind: secrets, object: { apiVersion: "v1", kind: "Secret", metadata, data: {} } };
}

type Stored = NonNullable<BenchOptions["objects"]>[number];

const going: BenchOptions = { metadata: { deletionTimestamp: "2026-11-18T00:00:00Z" } };
const protectedLabel = { [ownerLabels.deletionProtected]: "true" };
const earlier = { [ownerLabels.cluster]: "logs", [ownerLabels.uid]: "earlier" };
const ownConfig = { metadata: { name: "logs-config", labels: {} }, data: { a: "b" } };
const older = { ...controller("older"), kind: "OpenSearchCluster" };

function controller(uid: string): {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller: true;
} {
  return { apiVersion: "v1", kind: "Other", name: "logs", uid, controller: true };
}

/** A StatefulSet that the object of the older group applied. */
function inherited(more: object = {}): Stored {
  const managedFields = [{ manager: managerOf(opsterOpenSearchCluster.kind), operation: "Apply" }];
  const metadata = {
    name: "logs-old",
    namespace: "team",
    uid: "uid-logs-old",
    labels: earlier,
    managedFields,
  };
  return {
    kind: statefulSets,
    object: {
      apiVersion: "apps/v1",
      kind: "StatefulSet",
      metadata: { ...metadata, ownerReferences: [older], ...more },
      spec: {},
    },
  };
}

const inherit: SearchAction = {
  kind: "inherit",
  resource: statefulSets,
  name: "logs-old",
  uid: "uid-logs-old",
  from: "older",
};
const prune: SearchAction = {
  kind: "prune",
  resource: deployments,
  name: "logs-dashboards",
  uid: "uid-logs-dashboards",
  resourceVersion: "seen",
  generation: 1,
};
const dashboards: Stored = {
  kind: deployments,
  object: {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "logs-dashboards", namespace: "team", uid: "uid-logs-dashboards" },
    spec: {},
  },
};

const zoneLabel = "topology.kubernetes.io/zone";

/** Prunes the object as it is there. */
const pruneSeen: PerformRow["action"] = ({ api }) => ({
  ...prune,
  resourceVersion:
    api.read(deployments, { namespace: "team", name: "logs-dashboards" })?.metadata.resourceVersion ?? "",
});

/** Deletes the object as it is there, or one that is there no more. */
function deleteSeen(kind: Kind, name: string, uid: string): (bench: PerformBench) => SearchAction {
  return ({ api }) => ({
    kind: "delete",
    resource: kind,
    name,
    uid,
    resourceVersion: api.read(kind, { namespace: "team", name })?.metadata.resourceVersion ?? "1",
  });
}

type ObjectDo = Exclude<SearchAction["kind"], OperationAction["kind"] | EngineActionKind>;

/** Every action that writes objects has rows: the type says which are missing. */
const rows: Readonly<Record<ObjectDo, readonly PerformRow[]>> = {
  apply: [
    {
      name: "applies an object that is not there",
      action: { kind: "apply", resource: configMaps, object: ownConfig },
      want: ["apply ConfigMap team/logs-config"],
    },
  ],
  keepPassword: [
    {
      name: "creates a Secret with a password",
      action: { kind: "keepPassword", name: "logs-admin-password", username: "admin" },
      want: ["create Secret team/logs-admin-password"],
      isRandom: true,
    },
    {
      name: "leaves a Secret with a password that another client created first",
      given: { objects: [secret("logs-admin-password")] },
      action: { kind: "keepPassword", name: "logs-admin-password", username: "admin" },
      want: ["create Secret team/logs-admin-password"],
    },
  ],
  keepCa: [
    {
      name: "creates a Secret with a CA",
      action: { kind: "keepCa", name: "logs-ca" },
      want: ["create Secret team/logs-ca"],
      isRandom: true,
    },
    {
      name: "leaves a CA that another client created first",
      given: { objects: [secret("logs-ca")] },
      action: { kind: "keepCa", name: "logs-ca" },
      want: ["create Secret team/logs-ca"],
    },
  ],
  takeOverSecret: [
    {
      name: "takes over the Secret of an earlier cluster by uid",
      given: { objects: [secret("logs-ca", earlier)] },
      action: { kind: "takeOverSecret", name: "logs-ca", uid: "uid-logs-ca" },
      want: ["patch Secret team/logs-ca (uid)"],
    },
  ],
  issueCertificate: [
    {
      name: "writes pair, trust and request in one apply",
      action: {
        kind: "issueCertificate",
        certificate: "http",
        secretName: "logs-http-cert",
        ca,
        trustPem: ca.certificatePem,
        subject: { commonName: "logs", organizationalUnits: [], organizations: [] },
        dnsNames: ["logs"],
        usages: ["server"],
        durationMs: 86_400_000,
        requested: "again",
      },
      want: ["apply Secret team/logs-http-cert"],
      isRandom: true,
    },
  ],
  annotatePod: [
    {
      name: "copies the labels of the machine onto the pod, by its uid",
      given: {
        spec: { general: { nodeAttributes: [{ name: "zone", nodeLabel: zoneLabel }] } },
        objects: [{ kind: nodes, object: { metadata: { name: "m", labels: { [zoneLabel]: "z" } } } }],
      },
      action: { kind: "annotatePod", name: "logs-nodes-0", uid: "uid-pod-logs-nodes-0", machine: "m" },
      want: ["patch Pod team/logs-nodes-0 (uid)"],
    },
    {
      name: "names the label that the machine lacks",
      given: {
        spec: { general: { nodeAttributes: [{ name: "zone", nodeLabel: zoneLabel }] } },
        objects: [{ kind: nodes, object: { metadata: { name: "m" } } }],
      },
      action: { kind: "annotatePod", name: "logs-nodes-0", uid: "uid-pod-logs-nodes-0", machine: "m" },
      want: [],
      fails: "AwaitingMaterial",
    },
  ],
  annotateVolume: [
    {
      name: "labels a claim by uid",
      action: {
        kind: "annotateVolume",
        name: claim,
        uid: claimUid,
        annotations: { "search.quartermaster.dev/holds": "nothing" },
      },
      want: [`patch PersistentVolumeClaim team/${claim} (uid)`],
    },
  ],
  delete: [
    {
      name: "deletes a claim of a cluster that is being deleted",
      given: going,
      action: deleteSeen(persistentVolumeClaims, claim, claimUid),
      want: [`delete PersistentVolumeClaim team/${claim} (uid, resourceVersion)`],
    },
    {
      name: "takes the protection off a Secret first, and deletes it only as it is then",
      given: { ...going, objects: [secret("logs-ca", protectedLabel)] },
      action: { kind: "delete", resource: secrets, name: "logs-ca", uid: "uid-logs-ca" },
      want: ["patch Secret team/logs-ca (uid)", "delete Secret team/logs-ca (uid, resourceVersion)"],
    },
    {
      name: "leaves the protection of a Secret that was created again",
      given: { ...going, objects: [secret("logs-ca", protectedLabel)] },
      action: deleteSeen(secrets, "logs-ca", "before"),
      want: ["delete Secret team/logs-ca (uid, resourceVersion)"],
      fails: "conflict",
    },
    {
      name: "leaves a claim that another client changed since it was seen",
      given: going,
      action: {
        kind: "delete",
        resource: persistentVolumeClaims,
        name: claim,
        uid: claimUid,
        resourceVersion: "before",
      },
      want: [`delete PersistentVolumeClaim team/${claim} (uid, resourceVersion)`],
      fails: "conflict",
    },
    {
      name: "takes one that is not there for deleted",
      given: going,
      action: deleteSeen(secrets, "logs-ca", "uid-logs-ca"),
      want: ["delete Secret team/logs-ca (uid, resourceVersion)"],
    },
    {
      name: "deletes nothing of a cluster that stays",
      action: deleteSeen(persistentVolumeClaims, claim, claimUid),
      want: [],
      fails: "conflict",
    },
  ],
  prune: [
    {
      name: "deletes what is no longer declared with uid and resourceVersion",
      given: { objects: [dashboards] },
      action: pruneSeen,
      want: ["delete Deployment team/logs-dashboards (uid, resourceVersion)"],
    },
    {
      name: "leaves what was changed since it was seen",
      given: { objects: [dashboards] },
      action: prune,
      want: ["delete Deployment team/logs-dashboards (uid, resourceVersion)"],
    },
    {
      name: "deletes nothing once the spec is another one",
      given: { objects: [dashboards], metadata: { generation: 2 } },
      action: pruneSeen,
      want: [],
      fails: "conflict",
    },
  ],
  protect: [true, false].map((isProtected) => ({
    name: isProtected ? "protects a claim by uid" : "takes the protection off a claim by uid",
    action: {
      kind: "protect" as const,
      resource: persistentVolumeClaims,
      name: claim,
      uid: claimUid,
      isProtected,
    },
    want: [`patch PersistentVolumeClaim team/${claim} (uid)`],
  })),
  inherit: [
    {
      name: "takes over an object of the older group in one write with uid and resourceVersion",
      given: { objects: [inherited()] },
      action: inherit,
      want: ["patch StatefulSet team/logs-old (uid, resourceVersion)"],
    },
    {
      name: "leaves an object that belongs to neither",
      given: { objects: [inherited({ ownerReferences: [controller("other")] })] },
      action: inherit,
      want: [],
    },
    {
      name: "leaves an object that was created again",
      given: { objects: [inherited({ uid: "again" })] },
      action: inherit,
      want: [],
    },
  ],
  release: [
    {
      name: "takes the owner label off what stays, by uid",
      given: going,
      action: { kind: "release", resource: persistentVolumeClaims, name: claim, uid: claimUid },
      want: [`patch PersistentVolumeClaim team/${claim} (uid)`],
    },
  ],
  growClaim: [
    {
      name: "requests a larger volume with uid and resourceVersion",
      action: { kind: "growClaim", pool: "nodes", name: claim, uid: claimUid, size: "2Gi" },
      want: [`patch PersistentVolumeClaim team/${claim} (uid, resourceVersion)`],
    },
    ...["1Gi", "1024Mi", "512Mi"].map((size) => ({
      name: `asks for nothing where ${size} is no more than there is`,
      action: { kind: "growClaim" as const, pool: "nodes", name: claim, uid: claimUid, size },
      want: [],
    })),
    {
      name: "leaves a claim that was created again",
      action: { kind: "growClaim", pool: "nodes", name: claim, uid: "before", size: "2Gi" },
      want: [],
    },
  ],
  record: [
    {
      name: "writes no object for an event",
      action: { kind: "record", event: { type: "Normal", reason: "R", action: "A", note: "n" } },
      want: [],
    },
  ],
};

describe("a write of an object", () => {
  test.each(Object.values(rows).flat())("$name", async (row) => {
    expect(await performed(row)).toEqual(wanted(row));
  });

  test("leaves a Service under its name that another object controls", async () => {
    const foreign = { ...dashboards.object, metadata: { name: "logs-config", namespace: "team", uid: "x" } };
    const bench = await performBench({ objects: [{ kind: configMaps, object: foreign }] });
    const before = digestOf(bench.api.state());
    await expect(bench.run({ kind: "apply", resource: configMaps, object: ownConfig })).rejects.toMatchObject(
      {
        reason: "NameClash",
        // Without our labels it is not watched: no event says that it was removed.
        retryAfterMs: 30_000,
      },
    );
    expect(digestOf(bench.api.state())).toBe(before);
  });

  test.each([
    { name: "was deleted", act: undefined },
    { name: "was created again", act: { uid: "another" } },
    {
      name: "is not being deleted any more, because it was created again",
      act: { uid: "another", deletionTimestamp: "2026-11-18T00:00:00Z" },
    },
  ])("deletes no child of a cluster that $name", async ({ act }) => {
    const ref = { namespace: "team", name: "logs" };
    const bench = await performBench(going);
    const live = bench.api.read(openSearchCluster.kind, ref);
    if (act === undefined || live === undefined) bench.api.remove(openSearchCluster.kind, ref);
    else bench.api.put(openSearchCluster.kind, { ...live, metadata: { ...live.metadata, ...act } });
    const action = deleteSeen(persistentVolumeClaims, claim, claimUid);
    await expect(bench.run(action(bench))).rejects.toMatchObject({ code: "conflict" });
    expect(bench.api.writes).toEqual([]);
  });

  test("inherits an object with owner, labels and field managers of the heir", async () => {
    const bench = await performBench({ objects: [inherited()] });
    await bench.run(inherit);
    expect(bench.api.read(statefulSets, { namespace: "team", name: "logs-old" })?.metadata).toMatchObject({
      labels: { [ownerLabels.cluster]: "logs", [ownerLabels.uid]: "uid-logs" },
      ownerReferences: [{ uid: "uid-logs", controller: true }],
      managedFields: [{ manager: managerOf(openSearchCluster.kind), operation: "Apply" }],
    });
  });

  test("adds no object once a reconcile has written for a second and a half", async () => {
    const bench = await performBench({ spentMs: 1_501 });
    await expect(bench.run({ kind: "apply", resource: configMaps, object: ownConfig })).rejects.toMatchObject(
      {
        class: "transient",
      },
    );
    const early = await performBench({ spentMs: 1_500 });
    await early.run({ kind: "apply", resource: configMaps, object: ownConfig });
    expect([bench.api.writes.length, early.api.writes.length]).toEqual([0, 1]);
  });
});
