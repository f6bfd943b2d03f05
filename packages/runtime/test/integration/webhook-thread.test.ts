import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { createInterface } from "node:readline";

import { eventually, joinSharedCluster, makeNamespace } from "@quartermaster/testkit";
import { expect, test } from "vitest";

import type { Log } from "../../src/reconcile/log.ts";
import { silentLog } from "../../src/reconcile/log.ts";
import { realSystem } from "../../src/system/real-system.ts";
import { WebhookThread } from "../../src/webhook-thread/webhook-thread.ts";
import { makeServing, registrationOf } from "../support/serving.ts";

const entry = new URL("../support/thread-entry.ts", import.meta.url);
const system = realSystem();

test("a webhook thread answers the API server and reports to the main thread", async () => {
  using cluster = joinSharedCluster();
  await using namespace = await makeNamespace(cluster.api, "thread");
  const { authority, certificates } = await makeServing();
  const lines: string[] = [];
  const log: Log = {
    ...silentLog,
    error: (message, { err } = {}) => lines.push(`${message}: ${err instanceof Error ? err.message : ""}`),
  };
  const finished: { readonly code: number; readonly durationMs: number }[] = [];
  await using thread = new WebhookThread({
    entry,
    system,
    certificates,
    log,
    port: 0,
    host: "127.0.0.1",
    observer: { webhookFinished: ({ code, durationMs }) => finished.push({ code, durationMs }) },
  });
  const port = await thread.listen();
  expect(thread.isListening).toBe(true);
  const name = `t${randomBytes(4).toString("hex")}`;
  const path = `/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/${name}`;
  const where = { port, path: "/admit", caPem: authority.certificatePem, namespace: namespace.name };
  await cluster.api.apply(path, registrationOf({ name, kind: "Validating", ...where }));
  const make = async (object: string): Promise<string> => {
    const metadata = { name: object, namespace: namespace.name };
    const { status, body } = await cluster.api.send({
      method: "POST",
      path: `/api/v1/namespaces/${namespace.name}/configmaps?dryRun=All`,
      body: { apiVersion: "v1", kind: "ConfigMap", metadata },
    });
    return `${status} ${status === 201 ? "" : body}`;
  };
  await eventually(async (see) => see(await make("denied")).startsWith("400 ") || finished.length > 0);
  expect(await make("fine")).toBe("201 ");
  expect(await make("denied")).toContain("not this one");
  expect(await make("throws")).toContain("the webhook failed");
  await eventually((see) => see(lines).includes("a webhook failed: a fault of ours"));
  expect(finished.map(({ code }) => code)).toContain(500);

  await thread.stop();
  expect(thread.isListening).toBe(false);
  expect(await make("late")).not.toBe("201 ");
  await cluster.api.send({ method: "DELETE", path });
});

test("a webhook thread answers while the main thread is blocked for two seconds", async () => {
  const { certificates } = await makeServing();
  await using thread = new WebhookThread({ entry, system, certificates, port: 0, host: "127.0.0.1" });
  const port = await thread.listen();
  const file = new URL("../support/review-caller.ts", import.meta.url).pathname;
  const caller = spawn(process.execPath, [file, `https://127.0.0.1:${port}/admit`], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const said = createInterface({ input: caller.stdout })[Symbol.asyncIterator]();
  expect(await said.next()).toMatchObject({ value: "begun" });
  block(2_000);
  const { value } = await said.next();
  expect(Number(value)).toBeLessThan(500);
});

test("a webhook thread whose entry fails is an error of listen, not a silence", async () => {
  const { certificates } = await makeServing();
  const missing = new URL("../support/there-is-no-such-entry.ts", import.meta.url);
  await using thread = new WebhookThread({ entry: missing, system, certificates, port: 0 });
  await expect(thread.listen()).rejects.toThrow("there-is-no-such-entry");
  expect(thread.isListening).toBe(false);
});

/** Nothing else runs on this thread meanwhile. */
function block(ms: number): void {
  const endMs = performance.now() + ms;
  while (performance.now() < endMs);
}
