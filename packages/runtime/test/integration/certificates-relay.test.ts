import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { eventually, joinSharedCluster, makeNamespace, type SharedCluster } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { issueCa } from "../../src/certificates/issue-certificate.ts";
import { type CaSource, RelayedCa } from "../../src/certificates/relayed-ca.ts";
import { InformerPool } from "../../src/informers/informer-pool.ts";
import { realSystem } from "../../src/system/real-system.ts";
import { connect } from "../support/connect.ts";
import { makeTempDirectory } from "../support/temp-directory.ts";

const system = realSystem();

async function newCa(commonName: string): Promise<string> {
  const validity = { notBeforeMs: Date.now() - 60_000, notAfterMs: Date.now() + 3_600_000 };
  return (await issueCa({ subject: { commonName }, serial: "01", validity })).certificatePem;
}

interface RelayBench extends AsyncDisposable {
  readonly cluster: SharedCluster;
  readonly namespace: string;
  /** Starts one more replica. */
  relay(source: CaSource, overlapMs?: number): void;
  /** What the platform does. */
  fill(content: string): Promise<void>;
  /** What is published: the CAs, and when some leave. */
  published(): Promise<
    { readonly pem: string; readonly certificates: string; readonly version: string } | undefined
  >;
}

async function setUp(): Promise<RelayBench> {
  const stack = new AsyncDisposableStack();
  const cluster = stack.use(joinSharedCluster());
  const { name: namespace } = stack.use(await makeNamespace(cluster.api, "relay"));
  const { client, transport } = stack.use(connect(cluster.admin));
  const path = `/api/v1/namespaces/${namespace}/configmaps`;
  return {
    cluster,
    namespace,
    relay: (source, overlapMs) => {
      const informers = new InformerPool({ transport, system, freeze: true });
      const stopping = new AbortController();
      const running = new RelayedCa({
        source,
        target: { namespace, name: "published" },
        client,
        informers,
        system,
        fieldManager: "relay",
        ...(overlapMs === undefined ? {} : { overlapMs }),
      }).run(stopping.signal);
      stack.defer(async () => {
        stopping.abort();
        await running;
        await informers[Symbol.asyncDispose]();
      });
    },
    fill: async (content) => {
      await cluster.api.apply(`${path}/platform`, {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: "platform" },
        data: { "service-ca.crt": content },
      });
    },
    published: async () => {
      const { status, body } = await cluster.api.send({ path: `${path}/published` });
      if (status === 404) return undefined;
      const { metadata, data } = JSON.parse(body) as {
        readonly metadata: {
          readonly resourceVersion: string;
          readonly annotations?: Readonly<Record<string, string>>;
        };
        readonly data?: Readonly<Record<string, string>>;
      };
      const certificates = metadata.annotations?.["quartermaster.dev/authorities-leave"] ?? "";
      return { pem: data?.["ca.crt"] ?? "", certificates, version: metadata.resourceVersion };
    },
    [Symbol.asyncDispose]: async () => await stack.disposeAsync(),
  };
}

const fromPlatform = (namespace: string): CaSource => ({
  kind: "configMap",
  ref: { namespace, name: "platform" },
  key: "service-ca.crt",
});

describe("CAs of others", () => {
  test("[subscription-injection/AC-F15] an old one leaves when the overlap is over, and what is broken changes nothing", async () => {
    await using bench = await setUp();
    const [old, fresh] = [await newCa("old"), await newCa("new")];
    bench.relay(fromPlatform(bench.namespace), 2_000);
    await bench.fill(old);
    await eventually(async (see) => see(await bench.published())?.pem === old);
    await bench.fill("-----BEGIN CERTIFICATE-----\nhalf");
    await bench.fill(fresh);
    // Both are trusted until the old one's time has come.
    await eventually(async (see) => {
      const { pem = "", certificates = "" } = see(await bench.published()) ?? {};
      return pem.includes(old) && pem.includes(fresh) && certificates.includes("T");
    });
    await eventually(async (see) => see(await bench.published())?.pem === fresh);
    expect((await bench.published())?.certificates).toBe("{}");
  });

  test("replicas with different sources agree, and then write no more", async () => {
    await using bench = await setUp();
    await using directory = await makeTempDirectory();
    const [old, fresh] = [await newCa("old"), await newCa("new")];
    const path = join(directory.path, "ca.crt");
    await writeFile(path, old);
    await bench.fill(fresh);
    bench.relay({ kind: "file", path });
    bench.relay(fromPlatform(bench.namespace));
    const isWhole = (pem = ""): boolean => pem.includes(old) && pem.includes(fresh);
    await eventually(async (see) => isWhole(see(await bench.published())?.pem));
    // An event for both: another client spoils what is published, and it is restored.
    await bench.cluster.api.apply(`/api/v1/namespaces/${bench.namespace}/configmaps/published`, {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "published" },
      data: { "ca.crt": "spoilt" },
    });
    await eventually(async (see) => isWhole(see(await bench.published())?.pem));
    const settled = await eventually(async () => {
      const before = await bench.published();
      await system.sleep(1_000);
      const after = await bench.published();
      return before?.version === after?.version ? after : undefined;
    });
    expect(isWhole(settled?.pem)).toBe(true);
    // How often they overwrote each other depends on the machine; that they have stopped does not.
    const position = await bench.cluster.audit.position();
    await system.sleep(2_000);
    const writes = await bench.cluster.audit.since(position, {
      namespace: bench.namespace,
      resource: "configmaps",
    });
    expect(writes.filter(({ verb, name }) => verb === "patch" && name === "published")).toEqual([]);
  });
});
