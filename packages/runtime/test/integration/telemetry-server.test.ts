import { hatchCanary, joinSharedCluster, makeNamespace } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { realSystem } from "../../src/system/real-system.ts";
import { createLog } from "../../src/telemetry/create-log.ts";
import { createMetrics } from "../../src/telemetry/metrics.ts";
import { TelemetryServer } from "../../src/telemetry/telemetry-server.ts";
import { connect } from "../support/connect.ts";
import { secrets } from "../support/kinds.ts";

const system = realSystem();

describe("the telemetry server", () => {
  test("answers probes by its checks, and is not ready once it stops", async () => {
    let isWell = false;
    const metrics = createMetrics({ system });
    await using server = new TelemetryServer({
      system,
      metrics,
      port: 0,
      host: "127.0.0.1",
      readiness: { stores: () => isWell },
    });
    const origin = `http://127.0.0.1:${await server.listen()}`;
    const request = async (path: string): Promise<number> => (await fetch(`${origin}${path}`)).status;
    expect([await request("/healthz"), await request("/readyz"), await request("/elsewhere")]).toEqual([
      200, 500, 404,
    ]);
    isWell = true;
    expect(await (await fetch(`${origin}/readyz?verbose`)).text()).toBe("[+]stores ok\n[+]running ok\nok\n");
    server.announceStop();
    expect([await request("/healthz"), await request("/readyz")]).toEqual([200, 500]);
    await server.stop();
    await expect(request("/healthz")).rejects.toThrow("fetch failed");
  });

  test("[runtime/RT-30] shows real requests on /metrics, with event-loop delay and garbage collection", async () => {
    using cluster = joinSharedCluster();
    const metrics = createMetrics({ system, controllers: [{ name: "copy" }] });
    await using connected = connect({ ...cluster.admin, observe: metrics.observe });
    await connected.client.listPage(secrets, { namespace: "default" });
    await using server = new TelemetryServer({ system, metrics, port: 0, host: "127.0.0.1" });
    const response = await fetch(`http://127.0.0.1:${await server.listen()}/metrics`);
    const text = await response.text();
    const { host } = new URL(cluster.admin.server);
    expect(response.headers.get("content-type")).toContain("text/plain");
    expect(text).toContain(`rest_client_requests_total{code="200",method="GET",host="${host}"} 1`);
    expect(text).toContain(`rest_client_request_duration_seconds_count{verb="GET",host="${host}"} 1`);
    expect(text).toMatch(/^nodejs_eventloop_lag_p99_seconds /m);
    expect(text).toContain("# TYPE nodejs_gc_duration_seconds histogram");
    expect(text).toMatch(/^process_resident_memory_bytes \d+/m);
  });

  test("[runtime/RT-31] a canary in Secrets that pass through real requests and errors appears in no log line and no metric", async () => {
    using cluster = joinSharedCluster();
    await using namespace = await makeNamespace(cluster.api, "canary");
    const canary = hatchCanary();
    const metrics = createMetrics({ system, controllers: [{ name: "copy" }] });
    await using connected = connect({ ...cluster.admin, observe: metrics.observe });
    const { client } = connected;
    let text = "";
    const log = createLog({ level: "debug", destination: { write: (line) => (text += line) } });
    const metadata = { name: "s", namespace: namespace.name };
    const secret = { apiVersion: "v1", kind: "Secret", metadata, stringData: { password: canary.value } };
    const faults: unknown[] = [];
    const attempt = async (act: () => Promise<unknown>): Promise<void> => {
      try {
        log.info("went through", { response: await act() });
      } catch (error) {
        faults.push(error);
        log.error("failed", { err: error, object: secret });
      }
    };
    await attempt(async () => await client.create(secrets, secret));
    await attempt(async () => await client.create(secrets, secret));
    await attempt(async () => await client.get(secrets, metadata));
    const badKey = {
      ...secret,
      metadata: { ...metadata, name: "bad" },
      stringData: { [canary.value]: canary.value },
    };
    await attempt(async () => await client.create(secrets, badKey));
    const unknownField = { ...secret, metadata: { ...metadata, name: "odd" }, [canary.value]: canary.value };
    await attempt(async () => await client.create(secrets, unknownField));
    expect(faults.length).toBe(3);
    expect(text.split("\n").length).toBe(6);
    expect(canary.leaksIn(await metrics.render())).toEqual([]);
    expect(canary.leaksIn(text)).toEqual([]);
  });
});
