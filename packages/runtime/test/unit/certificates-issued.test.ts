import { X509Certificate } from "node:crypto";

import { RecordedApi } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { IssuedCertificates } from "../../src/certificates/issued-certificates.ts";
import { keepCaSet, readCaSet } from "../../src/certificates/keep-ca-set.ts";
import type { KubeObject } from "../../src/object/kube-object.ts";
import { VirtualSystem } from "../../src/testing/virtual-system.ts";

const secret = { namespace: "ns", name: "authorities" };
const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
const times = {
  caMs: 365 * dayMs,
  servingMs: 30 * dayMs,
  propagationMs: 5 * minuteMs,
  retirementMs: 30 * dayMs,
};
const { signal } = new AbortController();

const configuration = (name: string): KubeObject =>
  ({
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "MutatingWebhookConfiguration",
    metadata: { name },
    webhooks: [{ name: "w", clientConfig: {} }],
  }) as KubeObject;

/** A replica that issues, and what happened in order: writes, and certificates that it began to serve with. */
async function issuing(system: VirtualSystem, targets: readonly string[] = []) {
  const api = new RecordedApi(targets.map(configuration));
  const happened: string[] = [];
  api.beforeWrite = (write) => {
    happened.push(`${write.verb} ${write.object}`);
  };
  const source = new IssuedCertificates({
    client: api.client,
    system,
    secret,
    dnsNames: ["webhook.ns.svc"],
    targets: targets.map((name) => ({ kind: "mutating", name })),
  });
  let changed = Promise.withResolvers<undefined>();
  source.onChange(() => {
    happened.push("serve");
    changed.resolve(undefined);
  });
  const stopping = new AbortController();
  const running = source.run(stopping.signal);
  await changed.promise;
  await settled(() => happened.filter((each) => each.startsWith("apply")).length >= targets.length);
  return {
    api,
    source,
    happened,
    /** Looks again and waits for the next certificate. */
    renew: async () => {
      happened.length = 0;
      changed = Promise.withResolvers<undefined>();
      source.refresh();
      await changed.promise;
    },
    [Symbol.asyncDispose]: async () => {
      stopping.abort();
      await running;
    },
  };
}

/** Lets what is in progress continue until it has come this far. */
async function settled(isDone: () => boolean): Promise<void> {
  for (let turn = 0; turn < 1_000 && !isDone(); turn += 1) await Promise.resolve();
}

describe("certificates of our own", () => {
  test("hold for clocks that are up to five minutes behind, of CA and serving certificate alike", async () => {
    const system = new VirtualSystem();
    await using replica = await issuing(system);
    const serving = new X509Certificate(replica.source.current()?.certificatePem ?? "");
    const stored = replica.api.find("Secret", secret) ?? {
      apiVersion: "v1",
      kind: "Secret",
      metadata: secret,
    };
    const ca = new X509Certificate(readCaSet(stored)?.newest.certificatePem ?? "");
    for (const certificate of [serving, ca]) {
      expect(system.wallMs() - Date.parse(certificate.validFrom)).toBe(5 * minuteMs);
      expect(Date.parse(certificate.validTo)).toBeGreaterThan(system.wallMs() + 29 * dayMs);
    }
  });

  test.each([1, 2, 3])("are used only after %i targets trust their CA", async (count) => {
    const targets = ["one", "two", "three"].slice(0, count);
    await using replica = await issuing(new VirtualSystem(), targets);
    // Another client deleted the Secret: the next CA signs immediately, because none came before it.
    replica.api.remove({ apiVersion: "v1", kind: "Secret", metadata: secret });
    await replica.renew();
    expect(replica.happened).toEqual([
      "create Secret ns/authorities",
      ...targets.map((name) => `apply MutatingWebhookConfiguration /${name}`),
      "serve",
    ]);
  });
});

describe("the Secret that replicas share", () => {
  const keeping = (api: RecordedApi, system: VirtualSystem) => ({
    client: api.client,
    system,
    secret,
    times,
    name: "test",
  });

  test("keeps the CA of the replica that was first, a client that else makes one at the same time", async () => {
    const api = new RecordedApi();
    const system = new VirtualSystem();
    const all = await Promise.all(
      [1, 2, 3, 4].map(async () => await keepCaSet(keeping(api, system), signal)),
    );
    expect(new Set(all.map(({ newest }) => newest.certificatePem)).size).toBe(1);
    expect(all.every(({ previous }) => previous === undefined)).toBe(true);
  });

  test("gets one new CA when several replicas announce one at the same time", async () => {
    const api = new RecordedApi();
    const system = new VirtualSystem();
    const first = await keepCaSet(keeping(api, system), signal);
    await system.advance(250 * dayMs);
    const all = await Promise.all(
      [1, 2, 3, 4].map(async () => await keepCaSet(keeping(api, system), signal)),
    );
    expect(new Set(all.map(({ newest }) => newest.certificatePem)).size).toBe(1);
    for (const { previous } of all) expect(previous?.certificatePem).toBe(first.newest.certificatePem);
  });

  test("is not overwritten when another client changed it after it was read", async () => {
    const api = new RecordedApi();
    const system = new VirtualSystem();
    await keepCaSet(keeping(api, system), signal);
    await system.advance(250 * dayMs);
    let theirs: KubeObject | undefined;
    api.beforeWrite = ({ verb }) => {
      const found = api.find("Secret", secret);
      if (verb !== "replace" || theirs !== undefined || found === undefined) return;
      theirs = api.put({ ...found, metadata: { ...found.metadata, annotations: { kept: "yes" } } });
    };
    await keepCaSet(keeping(api, system), signal);
    expect(api.find("Secret", secret)?.metadata.annotations).toEqual({ kept: "yes" });
  });

  test.each([-5, 5])("is left alone by a replica whose clock is %i minutes off", async (minutes) => {
    const api = new RecordedApi();
    const first = await keepCaSet(keeping(api, new VirtualSystem()), signal);
    const system = new VirtualSystem({ startMs: Date.UTC(2026, 0, 1) + minutes * minuteMs });
    const second = await keepCaSet(keeping(api, system), signal);
    expect(second.newest.certificatePem).toBe(first.newest.certificatePem);
    expect(api.writes.map(({ verb }) => verb)).toEqual(["create"]);
  });
});
