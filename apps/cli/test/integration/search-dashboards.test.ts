import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createSecureServer, type ServerOptions } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { issueCa, issueCertificate } from "@quartermaster/runtime/certificates";
import { joinSharedCluster, makeNamespace, provideProgram, type TestNamespace } from "@quartermaster/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";

import { openPage } from "../support/browser.ts";
import { writeStatus } from "../support/cluster.ts";
import { type, type Output } from "../support/user.ts";

const cluster = joinSharedCluster();
const directory = mkdtempSync(join(tmpdir(), "search-dashboards-"));
let namespace: TestNamespace;

/** Answers of a real Prometheus to the overview of `team/logs`, in the ten minutes in which a data node was away (campaign monitoring-stack). */
const recorded = z
  .object({
    toSeconds: z.number(),
    responses: z.record(
      z.string(),
      z.object({
        status: z.string(),
        data: z.object({
          resultType: z.string(),
          result: z.array(
            z.object({
              metric: z.record(z.string(), z.string()),
              values: z.array(z.tuple([z.number(), z.string()])),
            }),
          ),
        }),
      }),
    ),
  })
  .parse(JSON.parse(readFileSync(join(import.meta.dirname, "../support/overview-responses.json"), "utf8")));

/** Serves the recording as if it had just happened. `evil` takes the place of the cluster's name in labels. */
async function servePrometheus(
  evil?: string,
  tls?: ServerOptions,
): Promise<AsyncDisposable & { readonly url: string }> {
  const reply = (request: IncomingMessage, response: ServerResponse): void => {
    const { searchParams } = new URL(request.url ?? "", "http://localhost");
    const expr = (searchParams.get("query") ?? "").replaceAll(namespace.name, "team");
    const known = recorded.responses[expr];
    const shift = Number(searchParams.get("end")) - recorded.toSeconds;
    const result = known?.data.result.map(({ metric, values }) => ({
      metric: { ...metric, ...(evil === undefined ? {} : { cluster: evil }) },
      values: values.map(([at, value]) => [at + shift, value]),
    }));
    response.setHeader("content-type", "application/json");
    response.end(
      JSON.stringify(
        result === undefined
          ? { status: "error", error: `not recorded: ${expr}` }
          : { status: "success", data: { resultType: "matrix", result } },
      ),
    );
  };
  const server = tls === undefined ? createServer(reply) : createSecureServer(tls, reply);
  const { promise, resolve } = Promise.withResolvers<undefined>();
  server.listen(0, "127.0.0.1", () => {
    resolve(undefined);
  });
  await promise;
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    url: tls === undefined ? `http://127.0.0.1:${String(port)}` : `https://localhost:${String(port)}`,
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

beforeAll(async () => {
  namespace = await makeNamespace(cluster.api, "cli-dashboards");
  await cluster.api.apply(`/apis/opensearch.org/v1/namespaces/${namespace.name}/opensearchclusters/logs`, {
    apiVersion: "opensearch.org/v1",
    kind: "OpenSearchCluster",
    metadata: { name: "logs", namespace: namespace.name },
    spec: {
      general: { serviceName: "logs", version: "2.19.4" },
      nodePools: [{ component: "nodes", replicas: 1, roles: ["cluster_manager", "data"], diskSize: "1Gi" }],
    },
  });
});

afterAll(async () => {
  rmSync(directory, { recursive: true });
  await namespace[Symbol.asyncDispose]();
  cluster[Symbol.dispose]();
});

async function qm(...args: readonly string[]): Promise<Output> {
  return await type(["search", "dashboards", ...args, "-n", namespace.name], {
    env: { KUBECONFIG: cluster.kubeconfigPath },
  });
}

const metricsSchema = z.object({
  panels: z.array(z.object({ panel: z.string(), lines: z.array(z.object({ name: z.string() })) })),
});

interface Wrong {
  readonly name: string;
  readonly args: readonly string[];
  readonly code: number;
  readonly says: RegExp;
}

describe("qm search dashboards", () => {
  test("writes a page with the recorded figures of a real cluster", async () => {
    await using prometheus = await servePrometheus();
    const file = join(directory, "overview.html");
    const output = await qm("logs", "--prometheus", prometheus.url, "--since", "10m", "-o", file);
    expect(output).toEqual({ code: 0, out: `wrote ${file}: 8 of 9 panels have data`, err: "" });
    const page = readFileSync(file, "utf8");
    expect(page).toContain(`<h1>${namespace.name}/logs: overview</h1>`);
    expect(page.match(/<section>/g)).toHaveLength(9);
    const data = await qm("logs", "--prometheus", `${prometheus.url}/`, "--since", "10m", "-o", "json");
    const { panels } = metricsSchema.parse(JSON.parse(data.out));
    expect(panels.find(({ panel }) => panel === "Nodes")?.lines.map((line) => line.name)).toEqual([
      "logs expected",
      "logs members",
    ]);
  });

  test.each<Wrong>([
    {
      name: "no Prometheus of its own",
      args: ["logs"],
      code: 1,
      says: /logs has no Prometheus of its own .* name yours with --prometheus/,
    },
    {
      name: "no one answers",
      args: ["logs", "--prometheus", "http://127.0.0.1:1"],
      code: 1,
      says: /cannot ask http:\/\/127\.0\.0\.1:1: /,
    },
    {
      name: "an unknown dashboard",
      args: ["logs", "--dashboard", "all"],
      code: 2,
      says: /one of overview, nodes, traffic, operator/,
    },
    {
      name: "a file that is not there",
      args: ["logs", "--prometheus", "https://127.0.0.1:1", "--prometheus-ca", "/no/such/ca.crt"],
      code: 1,
      says: /\/no\/such\/ca\.crt: ENOENT/,
    },
    { name: "an unknown time", args: ["logs", "--since", "1y"], code: 2, says: /e\.g\. 30m, 6h or 2d/ },
    { name: "another kind of file", args: ["logs", "-o", "page.pdf"], code: 2, says: /ends in \.html/ },
    {
      name: "no such cluster",
      args: ["other", "--prometheus", "http://127.0.0.1:1"],
      code: 4,
      says: /no search cluster other/,
    },
  ])("says what is wrong: $name", async ({ args, code, says }) => {
    const output = await qm(...args);
    expect({ code: output.code, out: output.out }).toEqual({ code, out: "" });
    expect(output.err).toMatch(says);
  });

  test("verifies the certificate of a Prometheus that is named", async () => {
    const validity = { notBeforeMs: Date.now() - 60_000, notAfterMs: Date.now() + 600_000 };
    const issuer = await issueCa({ subject: { commonName: "ca" }, serial: "01", validity });
    const certificate = await issueCertificate(issuer, {
      subject: { commonName: "monitoring" },
      serial: "02",
      validity,
      usages: ["server"],
      dnsNames: ["localhost"],
    });
    await using prometheus = await servePrometheus(undefined, {
      cert: certificate.certificatePem,
      key: certificate.keyPem,
    });
    const args = ["logs", "--prometheus", prometheus.url, "--since", "10m", "-o", "json"];
    const refused = await qm(...args);
    expect(refused.code).toBe(1);
    expect(refused.err).toMatch(/cannot ask https:\/\/localhost:\d+: .*certificate/);
    const ca = join(directory, "ca.crt");
    writeFileSync(ca, issuer.certificatePem);
    expect((await qm(...args, "--prometheus-ca", ca)).code).toBe(0);
  });

  test("asks the stack's own Prometheus through the API server", async () => {
    const path = `/apis/opensearch.org/v1/namespaces/${namespace.name}/opensearchclusters/logs`;
    await writeStatus(cluster, path, { monitoring: { exporter: "Ready", stack: "Standalone" } });
    const output = await qm("logs");
    // There is no such Service here; a campaign asks a real one.
    expect(output.code).toBe(4);
    expect(output.err).toContain("logs-prometheus");
  });
});

/** Where Chromium cannot be had, the reason; these tests are then skipped, and say so. */
const chromium = await provideProgram({ program: "chromium" }).catch((error: unknown) => String(error));
const hasChromium = chromium.startsWith("/");
if (!hasChromium) process.stderr.write(`no page is drawn in a browser: ${chromium}\n`);

describe.runIf(hasChromium)("in Chromium (skipped, with a message, where it cannot be had)", () => {
  test("the page is drawn as it should be, without scripts, and sends no request to any host", async () => {
    const evil = `<img src=x onerror="document.title='hacked'"><script>document.title='hacked'</script>`;
    await using prometheus = await servePrometheus(evil);
    const file = join(directory, "hostile.html");
    expect((await qm("logs", "--prometheus", prometheus.url, "--since", "10m", "-o", file)).code).toBe(0);
    await using page = await openPage(chromium, `file://${file}`);
    const seen = await page.evaluate(`({
      title: document.title,
      foreign: document.querySelectorAll("script, img, iframe, object, link").length,
      cards: document.querySelectorAll("section").length,
      charts: document.querySelectorAll("section svg").length,
      hasLines: document.querySelectorAll("polyline").length > 10,
      outside: [...document.querySelectorAll("section svg")].filter((svg) => {
        const [inner, outer] = [svg.getBoundingClientRect(), svg.parentElement.getBoundingClientRect()];
        return inner.width < 300 || inner.height < 100 || inner.left < outer.left || inner.right > outer.right;
      }).length,
      tooWide: document.documentElement.scrollWidth > window.innerWidth,
      columns: new Set([...document.querySelectorAll("section")].map((each) => each.getBoundingClientRect().left)).size,
      health: document.querySelector(".stat strong").textContent,
    })`);
    expect(seen).toEqual({
      title: `${namespace.name}/logs: overview`,
      foreign: 0,
      cards: 9,
      charts: 7,
      hasLines: true,
      outside: 0,
      tooWide: false,
      columns: 3,
      health: "green",
    });
    expect(page.requests).toEqual([`file://${file}`]);
  });

  test("a picture of it is not empty", async () => {
    await using prometheus = await servePrometheus();
    const file = join(directory, "picture.html");
    expect((await qm("logs", "--prometheus", prometheus.url, "--since", "4m", "-o", file)).code).toBe(0);
    await using page = await openPage(chromium, `file://${file}`);
    const picture = await page.screenshot();
    expect(picture.length).toBeGreaterThan(20_000);
    // For people who want to look.
    const wanted = process.env["QM_SCREENSHOT"];
    if (wanted !== undefined) writeFileSync(wanted, picture);
  });
});
