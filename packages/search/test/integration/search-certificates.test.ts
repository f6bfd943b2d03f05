import { X509Certificate } from "node:crypto";

import type { Live } from "@quartermaster/runtime";
import { pods, secrets } from "@quartermaster/runtime/kinds";
import { eventually } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import type { ClusterObject } from "../../src/model/read-cluster.ts";
import {
  aCluster,
  aPool,
  conditionOf,
  isReady,
  sayReady,
  type SearchBench,
  setUpSearch,
} from "../support/search-bench.ts";
import { TestCa } from "../support/test-certificates.ts";

const day = 86_400_000;
const pools = [aPool("nodes", 3)];
const names = ["logs-nodes-0", "logs-nodes-1", "logs-nodes-2"];

async function podUids({ client, namespace }: SearchBench): Promise<readonly string[]> {
  const list = await Array.fromAsync(client.list(pods, { namespace }));
  return list.map(({ metadata }) => metadata.uid).toSorted();
}

/** What each node shows to clients and to other nodes. */
function servedBy({ engines }: SearchBench): readonly (string | undefined)[] {
  const engine = engines.engine("logs");
  return names.flatMap((name) => {
    const { served, shownToNodes } = engine.node(name);
    return [served?.certificatePem, shownToNodes?.certificatePem];
  });
}

type Certificates = NonNullable<NonNullable<ClusterObject["status"]>["certificates"]>;

function certificatesOf({ status }: Live<ClusterObject>): Certificates {
  return status?.certificates ?? {};
}

function renewed(value: string): object {
  return aCluster("logs", { pools, annotations: { "search.quartermaster.dev/renew-certificates": value } });
}

describe("renewed certificates", () => {
  test("[search/SC-27] every node serves them once its kubelet has brought them, without a restart; until then the status names the nodes that do not", async () => {
    await using bench = await setUpSearch();
    await bench.apply(aCluster("logs", { pools }));
    const created = await bench.until(
      "logs",
      (found) => isReady(found) && found.status?.certificates?.served !== undefined,
    );
    const [before, uids] = [servedBy(bench), await podUids(bench)];
    bench.engines.isKubeletSlow = true;
    await bench.apply(renewed("monday"));
    // Told to read them again, and told again: the files are the old ones.
    await bench.until("logs", (found) => found.status?.certificates?.staleNodes?.length === 3);
    const reloads = (): number => bench.engines.calls.filter((call) => call === "reloadCertificates").length;
    await eventually(() => reloads() >= 2 || undefined);
    const waiting = await bench.get("logs");
    expect(certificatesOf(waiting)).toMatchObject({
      served: certificatesOf(created).served,
      staleNodes: names,
    });
    expect(isReady(waiting)).toBe(true);
    expect(servedBy(bench)).toEqual(before);
    bench.engines.isKubeletSlow = false;
    const done = await bench.until(
      "logs",
      (found) => isReady(found) && found.status?.certificates?.staleNodes === undefined,
    );
    expect(certificatesOf(done).served).not.toBe(certificatesOf(created).served);
    expect(servedBy(bench).filter((pem) => before.includes(pem))).toEqual([]);
    expect(new Set(servedBy(bench)).size).toBe(2);
    expect(await podUids(bench)).toEqual(uids);
    expect(done.status?.nodePools?.[0]?.outdated).toBe(0);
  });

  test("[faults/39] a certificate ends while a node is down: it was renewed before, and the node joins with the new one within a minute", async () => {
    await using bench = await setUpSearch();
    const late = "logs-nodes-2";
    await bench.apply(aCluster("logs", { pools }));
    await bench.until("logs", (found) => isReady(found) && found.status?.certificates?.served !== undefined);
    const [before, uids] = [servedBy(bench), await podUids(bench)];
    const { validTo } = new X509Certificate(before[0] ?? "");
    bench.engines.down.add(late);
    await sayReady(bench, [late], false);
    await bench.until("logs", (found) => conditionOf(found, "Ready") === "False/MemberMissing");
    // Into its last days, when it is renewed, and then beyond its end.
    const leftMs = Date.parse(validTo) - Date.now();
    bench.clock.advance(leftMs - 5 * day);
    const isRenewed = (name: string): boolean =>
      !before.includes(bench.engines.engine("logs").node(name).served?.certificatePem);
    await eventually(() => names.slice(0, 2).every(isRenewed) || undefined);
    bench.clock.advance(6 * day);
    await bench.reconcile("logs");
    bench.engines.down.delete(late);
    await sayReady(bench, [late], true);
    await bench.until(
      "logs",
      (found) => isReady(found) && found.status?.certificates?.staleNodes === undefined,
    );
    expect(servedBy(bench).filter((pem) => before.includes(pem))).toEqual([]);
    expect(await podUids(bench)).toEqual(uids);
  });

  test("a node that refuses, or does not say what it serves, is not taken for done", async () => {
    await using bench = await setUpSearch();
    await bench.apply(aCluster("logs", { pools }));
    await bench.until("logs", (found) => isReady(found) && found.status?.certificates?.served !== undefined);
    const { faults } = bench.engines.engine("logs");
    // The old files keep it from being done meanwhile.
    bench.engines.isKubeletSlow = true;
    faults.plan({ call: "reloadCertificates", fault: { kind: "throw", code: "invalid" }, times: 3 });
    await bench.apply(renewed("tuesday"));
    await bench.until("logs", (found) => found.status?.certificates?.staleNodes?.length === 3);
    faults.clear();
    faults.plan({ call: "transportCertificateEndMs", fault: { kind: "throw", code: "timeout" } });
    bench.engines.isKubeletSlow = false;
    const requested = (): number =>
      bench.engines.calls.filter((call) => call === "transportCertificateEndMs").length;
    const before = requested();
    await eventually(() => requested() >= before + 6 || undefined);
    expect((await bench.get("logs")).status?.certificates?.staleNodes).toEqual(names);
    faults.clear();
    await bench.until(
      "logs",
      (found) => isReady(found) && found.status?.certificates?.staleNodes === undefined,
    );
  });
});

describe("certificates of others", () => {
  /** As cert-manager does with a Certificate for the name that the sample verifies. */
  async function issued(ca: TestCa): Promise<Readonly<Record<string, string>>> {
    const name = "opensearch.example.com";
    const certificate = await ca.issue({
      subject: { commonName: name },
      usages: ["server"],
      dnsNames: [name],
    });
    return { "tls.crt": certificate.certificatePem, "tls.key": certificate.keyPem, "ca.crt": ca.caPem };
  }

  const sample = aCluster("my-cluster", {
    general: { operatorClusterURL: "opensearch.example.com" },
    pools: [
      aPool("masters", 3, { roles: ["cluster_manager", "data"] }),
      aPool("nodes", 3, { roles: ["data"] }),
    ],
    spec: {
      security: {
        tls: {
          http: { generate: false, secret: { name: "opensearch-tls" } },
          transport: { generate: true, perNode: true },
        },
      },
    },
  });

  test("[search/SC-34] upstream's sample for cert-manager, which names no adminSecret, is initialised by our own client certificate; a renewed certificate is served without a restart", async () => {
    await using bench = await setUpSearch();
    const { client, namespace } = bench;
    const ca = await TestCa.create();
    await bench.apply(sample);
    await bench.until(
      "my-cluster",
      (found) => found.status?.blockers?.some(({ message }) => message.includes("opensearch-tls")) === true,
    );
    await client.create(secrets, {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "opensearch-tls", namespace },
      stringData: await issued(ca),
    });
    const ready = await bench.until("my-cluster", isReady);
    expect(bench.engines.calls).toContain("initSecurity");
    expect(conditionOf(ready, "SecurityApplied")).toBe("True/AsDeclared");
    const engine = bench.engines.engine("my-cluster");
    const shown = (): string | undefined => engine.node("my-cluster-masters-0").served?.certificatePem;
    const [first, uids] = [shown(), await podUids(bench)];
    await bench.until("my-cluster", (found) => found.status?.certificates?.served !== undefined);
    await client.patch(
      secrets,
      { namespace, name: "opensearch-tls" },
      { patch: { kind: "merge", body: { stringData: await issued(ca) } } },
    );
    await eventually(() => shown() !== first || undefined);
    await bench.until(
      "my-cluster",
      (found) => isReady(found) && found.status?.certificates?.staleNodes === undefined,
    );
    expect(await podUids(bench)).toEqual(uids);
  });

  test("a running cluster changes to the author's certificates under another name, and back: nodes restart one by one, and every one is reached all the way", async () => {
    await using bench = await setUpSearch();
    const { client, namespace } = bench;
    await client.create(secrets, {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "theirs", namespace },
      stringData: await issued(await TestCa.create()),
    });
    const generated = aCluster("logs", { pools });
    const supplied = aCluster("logs", {
      general: { operatorClusterURL: "opensearch.example.com" },
      pools,
      spec: {
        security: {
          tls: { http: { generate: false, secret: { name: "theirs" } }, transport: { generate: true } },
        },
      },
    });
    const shown = (): ReadonlySet<string | undefined> =>
      new Set(names.map((name) => bench.engines.engine("logs").node(name).served?.certificatePem));
    await bench.apply(generated);
    const { status } = await bench.until("logs", isReady);
    const seen = [shown()];
    for (const declared of [supplied, generated]) {
      const uids = await podUids(bench);
      await bench.apply(declared);
      const found = await bench.until("logs", isReady);
      expect(found.status?.clusterUuid).toBe(status?.clusterUuid);
      expect(new Set([...uids, ...(await podUids(bench))]).size).toBe(6);
      seen.push(shown());
    }
    const [first, second, third] = seen;
    expect(second?.isDisjointFrom(first ?? new Set())).toBe(true);
    expect(third?.isDisjointFrom(second ?? new Set())).toBe(true);
    // Whose certificates no one serves any more is trusted no more.
    await eventually(async () => {
      const { data } = await client.get(secrets, { namespace, name: "logs-http-cert" });
      const trusted = Buffer.from(data?.["ca.crt"] ?? "", "base64").toString();
      return trusted.split("BEGIN CERTIFICATE").length === 2 || undefined;
    });
  });
});
