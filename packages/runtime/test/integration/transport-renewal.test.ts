import { describe, expect, test } from "vitest";

import type { Credential } from "../../src/config/cluster-config.ts";
import { PolledSource } from "../../src/config/polled-source.ts";
import { realSystem } from "../../src/system/real-system.ts";
import { connect } from "../support/connect.ts";
import { configMaps } from "../support/kinds.ts";
import { type Reaction, startSecureServer, status } from "../support/scripted-server.ts";

const ref = { name: "a", namespace: "n" };

/** Answers only requests with the token, after a few milliseconds. */
function door(token: string): Reaction {
  return (response, request) => {
    const isKnown = request.headers.authorization === `Bearer ${token}`;
    setTimeout(() => {
      response.writeHead(isKnown ? 200 : 401, { "content-type": "application/json" });
      response.end(
        JSON.stringify(isKnown ? { kind: "ConfigMap" } : { kind: "Status", reason: "Unauthorized" }),
      );
    }, 5);
  };
}

/** Credentials that are renewed by reading them again; `tokens` are given out one per reading. */
function renewable(...tokens: readonly string[]): {
  readonly source: PolledSource<Credential>;
  reads: () => number;
} {
  let reads = 0;
  const read = async (): Promise<Credential> => {
    const token = tokens[Math.min(reads, tokens.length - 1)] ?? "";
    reads += 1;
    return await Promise.resolve({ token });
  };
  const isSame = (one: Credential, other: Credential): boolean => one.token === other.token;
  const source = new PolledSource({ system: realSystem(), read, maxAgeMs: 3_600_000, isSame });
  return { source, reads: () => reads };
}

describe("[runtime/RT-11] a refused token", () => {
  test("is renewed once for many calls at the same time", async () => {
    await using server = await startSecureServer(door("fresh"));
    const { source, reads } = renewable("stale", "fresh");
    await using connected = connect({ server: server.url, insecure: true, credentials: source });
    const calls = Array.from({ length: 20 }, async () => await connected.client.get(configMaps, ref));
    expect(await Promise.all(calls)).toHaveLength(20);
    expect(reads()).toBe(2);
  });

  test("is renewed for a stream too", async () => {
    await using server = await startSecureServer(door("fresh"));
    await using connected = connect({
      server: server.url,
      insecure: true,
      credentials: renewable("stale", "fresh").source,
    });
    const { signal } = new AbortController();
    const stream = await connected.transport.openStream("/w", { signal, subject: { kind: "ConfigMap" } });
    expect(Buffer.concat(await Array.fromAsync(stream.body)).toString()).toBe('{"kind":"ConfigMap"}');
  });

  test("that cannot be renewed is shown once", async () => {
    await using server = await startSecureServer(status(401, { reason: "Unauthorized" }));
    await using connected = connect({
      server: server.url,
      insecure: true,
      credentials: renewable("stale").source,
    });
    await expect(connected.client.get(configMaps, ref)).rejects.toMatchObject({ class: "unauthorized" });
    expect(server.received).toHaveLength(1);
  });

  test("is not shown at all when it cannot be had", async () => {
    await using server = await startSecureServer(door("any"));
    const read = async (): Promise<Credential> => await Promise.reject(new Error("the plugin is broken"));
    const source = new PolledSource({ system: realSystem(), read, maxAgeMs: 1_000, isSame: () => true });
    await using connected = connect({ server: server.url, insecure: true, credentials: source });
    const want = { class: "unauthorized", reason: "CredentialUnavailable", mayHaveActed: false };
    await expect(connected.client.get(configMaps, ref)).rejects.toMatchObject(want);
    expect(server.received).toHaveLength(0);
  });

  test("that takes longer to renew than the call may last ends the call in time", async () => {
    await using server = await startSecureServer(door("any"));
    const read = async (): Promise<Credential> => await new Promise(() => undefined);
    const source = new PolledSource({ system: realSystem(), read, maxAgeMs: 1_000, isSame: () => true });
    await using connected = connect({ server: server.url, insecure: true, credentials: source });
    const call = connected.client.get(configMaps, ref, { timeoutMs: 50 });
    await expect(call).rejects.toMatchObject({ class: "timeout", mayHaveActed: false });
  });
});
