import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { realSystem, silentLog } from "@quartermaster/runtime";
import { engineResponses } from "@quartermaster/search/testing";
import { describe, expect, test } from "vitest";

import { runExporter } from "../../src/run-exporter.ts";
import { readSettings, type Settings } from "../../src/settings.ts";

/** An engine that serves without TLS, to all clients who has the password. */
async function startEngine(password: () => string): Promise<AsyncDisposable & { readonly port: number }> {
  const server = createServer((request, response) => {
    const wanted = `Basic ${Buffer.from(`monitor:${password()}`).toString("base64")}`;
    const path = Object.keys(engineResponses).find((each) => (request.url ?? "").startsWith(each)) ?? "";
    const isLetIn = request.headers.authorization === wanted;
    response.writeHead(isLetIn ? 200 : 401, { "content-type": "application/json" });
    response.end(JSON.stringify(isLetIn ? engineResponses[path] : { error: "no" }));
  });
  const { promise, resolve } = Promise.withResolvers<number>();
  server.listen(0, "127.0.0.1", () => {
    const address = server.address();
    resolve(typeof address === "object" && address !== null ? address.port : 0);
  });
  return {
    port: await promise,
    [Symbol.asyncDispose]: async () => {
      const closed = Promise.withResolvers<undefined>();
      server.close(() => {
        closed.resolve(undefined);
      });
      server.closeAllConnections();
      await closed.promise;
    },
  };
}

test("serves the figures of its engine from the files that it is given, and is ready once it was let in", async () => {
  const directory = mkdtempSync(join(tmpdir(), "exporter-"));
  const stopping = new AbortController();
  await using engine = await startEngine(() => "s3cret-word");
  try {
    for (const name of ["config", "login", "trust"]) mkdirSync(join(directory, name));
    const config = {
      cluster: "logs",
      distribution: "opensearch",
      host: "127.0.0.1",
      port: engine.port,
      expectedNodes: 1,
    };
    writeFileSync(join(directory, "config/config.json"), JSON.stringify(config));
    writeFileSync(join(directory, "login/username"), "monitor");
    writeFileSync(join(directory, "login/password"), "s3cret-word");
    const settings: Settings = {
      port: 0,
      configDirectory: join(directory, "config"),
      trustDirectory: join(directory, "trust"),
      loginDirectory: join(directory, "login"),
    };
    const { promise: listening, resolve } = Promise.withResolvers<number>();
    const running = runExporter(settings, {
      system: realSystem(),
      signal: stopping.signal,
      log: silentLog,
      onListening: resolve,
    });
    const at = `http://127.0.0.1:${String(await listening)}`;
    const page = await (await fetch(`${at}/metrics`)).text();
    expect(page).toContain('opensearch_cluster_status{cluster="logs"} 1');
    expect(page).not.toContain("s3cret-word");
    expect((await fetch(`${at}/readyz`)).status).toBe(200);
    expect((await fetch(`${at}/metrics`, { method: "POST" })).status).toBe(405);
    stopping.abort();
    await running;
  } finally {
    stopping.abort();
    rmSync(directory, { recursive: true });
  }
});

describe("settings", () => {
  test("have defaults for a pod", () => {
    expect(readSettings([])).toEqual({
      port: 9114,
      configDirectory: "/etc/search-exporter/config",
      trustDirectory: "/etc/search-exporter/trust",
      loginDirectory: "/etc/search-exporter/login",
    });
  });

  test.each([
    [["--port", "x"], "--port: not a port number"],
    [["--port", "70000"], "--port: not a port number"],
    [["--config", "here"], "--config: not an absolute path"],
    [["--passwort", "x"], "--passwort"],
  ])("that cannot be used are named: %j", (args, message) => {
    expect(() => readSettings(args)).toThrow(message);
  });
});
