import type { Live } from "@quartermaster/runtime";
import type { Pod, StatefulSet } from "@quartermaster/runtime/kinds";
import { describe, expect, test } from "vitest";

import { mountedCertificates, runningTls, withRunningTls } from "../../src/certificates/running-tls.ts";
import { engineTarget } from "../../src/engine-sampling.ts";
import { poolStatefulSet } from "../../src/workload/pool-stateful-set.ts";
import { aPool, aSearchCluster } from "../a-search-cluster.ts";
import { aMaterial, aPod } from "../support/a-seen.ts";

const base = aSearchCluster();
const plain = aSearchCluster({
  security: { ...base.security, http: { ...base.security.http, isEnabled: false } },
});
const off = aSearchCluster({ security: { ...plain.security, isEnabled: false } });
const both = { transport: true, http: true };
const clear = { transport: true, http: false };
const none = { transport: false, http: false };

/** What a pod of such a cluster mounts. */
function templateOf(cluster: typeof base): { readonly volumes: readonly object[] } {
  const { spec } = poolStatefulSet(cluster, aPool(), { inputsHash: "hash" });
  return { volumes: spec.template.spec?.volumes ?? [] };
}

const pod = (cluster: typeof base, changes: object = {}): Live<Pod> =>
  ({ metadata: { ...changes }, spec: templateOf(cluster) }) as unknown as Live<Pod>;
const set = (cluster: typeof base): Live<StatefulSet> =>
  ({ metadata: {}, spec: { template: { spec: templateOf(cluster) } } }) as unknown as Live<StatefulSet>;

describe("TLS of nodes that run", () => {
  test.for<{
    readonly name: string;
    readonly pods: readonly Live<Pod>[];
    readonly sets?: readonly Live<StatefulSet>[];
    readonly want: object | undefined;
  }>([
    { name: "on both layers", pods: [pod(base)], want: both },
    { name: "not for clients", pods: [pod(plain)], want: clear },
    { name: "not at all", pods: [pod(off)], want: none },
    { name: "as most of them", pods: [pod(plain), pod(base), pod(base)], want: both },
    {
      name: "a pod that goes does not count",
      pods: [pod(plain, { deletionTimestamp: "2026-11-17T10:00:00Z" }), pod(base)],
      want: both,
    },
    { name: "the template counts while there is no pod", pods: [], sets: [set(plain)], want: clear },
    { name: "pods count before the template", pods: [pod(base)], sets: [set(plain)], want: both },
    { name: "no one knows", pods: [], want: undefined },
  ])("$name", ({ pods, sets = [], want }) => {
    expect(runningTls({ pods, sets })).toEqual(want);
  });

  test("what is declared otherwise is held, and all clients sees what runs", () => {
    expect(withRunningTls(base, both)).toEqual({ cluster: base, heldTls: undefined });
    expect(withRunningTls(base, undefined)).toEqual({ cluster: base, heldTls: undefined });
    const { cluster, heldTls } = withRunningTls(plain, both);
    expect(heldTls).toBe("TLS between nodes on, for clients off");
    expect(cluster.security).toEqual(base.security);
    expect(engineTarget(cluster, aMaterial(), [aPod("logs-nodes-0")])?.tls).toBeDefined();
    expect(withRunningTls(base, none).cluster.security.isEnabled).toBe(false);
  });

  test("who vouches for certificates of the author's is trusted besides our own CA, which other nodes still serve", () => {
    const trustOf = (foreignHttpTrust: readonly string[]): readonly string[] | undefined =>
      engineTarget(base, aMaterial({ foreignHttpTrust, foreignTrust: ["other"] }), [
        aPod("logs-nodes-0"),
      ])?.tls?.caPem.split("\n");
    expect(trustOf(["theirs"])).toEqual(["theirs", "certificate"]);
    expect(trustOf([])).toEqual(["certificate"]);
  });
});

describe("whose certificates nodes have mounted", () => {
  const own = aSearchCluster({
    security: {
      ...base.security,
      http: { ...base.security.http, isGenerated: false, secret: "theirs" },
    },
  });
  const ownerReferences = [{ uid: "set", controller: true }];
  const ours = { ...set(base), metadata: { uid: "set" } } as unknown as Live<StatefulSet>;

  test.for([
    { name: "ours", pods: [pod(base, { ownerReferences })], http: ["logs-http-cert"] },
    { name: "the author's", pods: [pod(own, { ownerReferences })], http: ["theirs"] },
    {
      name: "both, in the middle of a roll",
      pods: [base, own, own].map((each) => pod(each, { ownerReferences })),
      http: ["logs-http-cert", "theirs"],
    },
    { name: "none without TLS for clients", pods: [pod(plain, { ownerReferences })], http: [] },
    { name: "a pod that another client made with our labels does not count", pods: [pod(own)], http: [] },
  ])("$name", ({ pods, http }) => {
    expect(mountedCertificates({ pods, sets: [ours] }).http).toEqual(http);
  });
});
