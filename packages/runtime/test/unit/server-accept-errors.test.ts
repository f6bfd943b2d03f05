import { tracingChannel } from "node:diagnostics_channel";
import type { Server } from "node:net";

import { expect, test } from "vitest";

import { realSystem } from "../../src/system/real-system.ts";
import { TelemetryServer } from "../../src/telemetry/telemetry-server.ts";
import { WebhookServer } from "../../src/webhook/webhook-server.ts";
import { makeServing } from "../support/serving.ts";

/** Runs the work and gives the sockets that began to listen meanwhile. */
async function listeningDuring(work: () => Promise<unknown>): Promise<readonly Server[]> {
  const servers: Server[] = [];
  const channel = tracingChannel("net.server.listen");
  const subscriber = {
    asyncStart: (message: unknown) => {
      servers.push((message as { readonly server: Server }).server);
    },
  };
  channel.subscribe(subscriber as Parameters<typeof channel.subscribe>[0]);
  await work();
  channel.unsubscribe(subscriber as Parameters<typeof channel.unsubscribe>[0]);
  return servers;
}

const noDescriptor = Object.assign(new Error("accept EMFILE"), { code: "EMFILE" });

test("a connection that cannot be accepted does not end the process", async () => {
  const system = realSystem();
  const lines: unknown[] = [];
  const say = (message: string): void => {
    lines.push(message);
  };
  const log = { isDebug: true, debug: say, info: say, warn: say, error: say, with: () => log };
  const { certificates } = await makeServing();
  const location = { system, log, port: 0, host: "127.0.0.1" };
  await using webhooks = new WebhookServer({ ...location, certificates, routes: [] });
  const metrics = { render: async () => await Promise.resolve(""), contentType: "text/plain" };
  await using telemetry = new TelemetryServer({ ...location, metrics });
  const servers = await listeningDuring(async () => {
    await webhooks.listen();
    await telemetry.listen();
  });
  expect(servers).toHaveLength(2);
  for (const server of servers) server.emit("error", noDescriptor);
  expect(lines).toEqual(["connection could not be accepted", "connection could not be accepted"]);
  expect(webhooks.isListening).toBe(true);
});
