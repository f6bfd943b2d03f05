import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { eventually } from "../eventually.ts";

/** A Prometheus that scrapes one port of this machine and evaluates a rule file. */
export interface ScrapingPrometheus extends AsyncDisposable {
  /** Answer of its API, once it satisfies the demand. */
  until(path: string, demand: (response: string) => boolean): Promise<string>;
}

export interface ScrapeOptions {
  readonly port: number;
  readonly rules: string;
  readonly labels: object;
  /** More of the scrape's configuration, e.g. rules for labels. */
  readonly scrape?: object;
}

/** Starts it. */
export async function startPrometheus(
  program: string,
  { port, rules, labels, scrape = {} }: ScrapeOptions,
): Promise<ScrapingPrometheus> {
  const directory = mkdtempSync(join(tmpdir(), "prometheus-"));
  const config = {
    global: { scrape_interval: "2s", evaluation_interval: "2s" },
    rule_files: [join(directory, "alerts.json")],
    scrape_configs: [
      { job_name: "exporter", static_configs: [{ targets: [`127.0.0.1:${port}`], labels }], ...scrape },
    ],
  };
  writeFileSync(join(directory, "alerts.json"), rules);
  writeFileSync(join(directory, "prometheus.json"), JSON.stringify(config));
  const web = await freePort();
  const started = spawn(
    program,
    [
      `--config.file=${join(directory, "prometheus.json")}`,
      `--storage.tsdb.path=${join(directory, "data")}`,
      `--web.listen-address=127.0.0.1:${web}`,
    ],
    { stdio: "ignore" },
  );
  const ended = new Promise((resolve) => started.once("exit", resolve));
  return {
    until: async (path, demand) =>
      await eventually(
        async (see) => {
          const output = see(await responseAt(`http://127.0.0.1:${web}${path}`));
          return demand(output) ? output : undefined;
        },
        { withinMs: 90_000, everyMs: 500 },
      ),
    [Symbol.asyncDispose]: async () => {
      started.kill("SIGTERM");
      await ended;
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Nothing while it does not listen yet. */
async function responseAt(url: string): Promise<string> {
  try {
    return await (await fetch(url)).text();
  } catch (error) {
    return String(error);
  }
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
