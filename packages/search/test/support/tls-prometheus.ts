import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { PrometheusTarget } from "../../src/autoscaling/query-prometheus.ts";
import { TestCa } from "./test-certificates.ts";

/** A real Prometheus on a port of this machine that reads no one and serves TLS, as that of a standalone stack does. */
export interface TlsPrometheus extends AsyncDisposable {
  readonly target: PrometheusTarget;
}

/** Starts it. */
export async function startTlsPrometheus(program: string, serverName: string): Promise<TlsPrometheus> {
  const ca = await TestCa.create();
  const certificate = await ca.issue({
    subject: { commonName: "monitoring" },
    usages: ["server"],
    dnsNames: [serverName],
  });
  const directory = mkdtempSync(join(tmpdir(), "prometheus-"));
  const write = (name: string, content: string): string => {
    writeFileSync(join(directory, name), content);
    return join(directory, name);
  };
  const tls = {
    cert_file: write("tls.crt", certificate.certificatePem),
    key_file: write("tls.key", certificate.keyPem),
    min_version: "TLS12",
  };
  const port = await freePort();
  const started = spawn(
    program,
    [
      `--config.file=${write("prometheus.json", JSON.stringify({ scrape_configs: [] }))}`,
      `--web.config.file=${write("web.json", JSON.stringify({ tls_server_config: tls }))}`,
      `--storage.tsdb.path=${join(directory, "data")}`,
      `--web.listen-address=127.0.0.1:${String(port)}`,
    ],
    { stdio: "ignore" },
  );
  const ended = new Promise((resolve) => started.once("exit", resolve));
  return {
    target: {
      endpoint: { node: "logs-prometheus", host: "127.0.0.1", port },
      tls: { caPem: ca.caPem, serverName, client: undefined },
    },
    [Symbol.asyncDispose]: async () => {
      started.kill("SIGTERM");
      await ended;
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  const { promise, resolve } = Promise.withResolvers<number>();
  server.listen(0, "127.0.0.1", () => {
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    server.close(() => {
      resolve(port);
    });
  });
  return await promise;
}
