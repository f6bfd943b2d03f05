import { realSystem } from "@quartermaster/runtime";
import { VirtualSystem } from "@quartermaster/runtime/testing";
import { describe, expect, test } from "vitest";

import { Exporter, type ExporterInputs } from "../../../src/exporter/exporter.ts";
import { engineResponses } from "../../fakes/index.ts";
import { type Reply, type HostileEngine, json, startHostileEngine } from "../../support/hostile-engine.ts";
import { TestCa } from "../../support/test-certificates.ts";

const login = { username: "quartermaster-monitoring", password: "a-Secret-that-must-not-leak" };

/** Answers as an OpenSearch would, to all clients who has the password. */
function asEngine(password = login.password): Reply {
  const wanted = `Basic ${Buffer.from(`${login.username}:${password}`).toString("base64")}`;
  return (request, response) => {
    if (request.headers.authorization !== wanted) {
      json(
        { error: { type: "security_exception", reason: `no ${request.headers.authorization ?? ""}` } },
        401,
      )(request, response);
      return;
    }
    const path = Object.keys(engineResponses).find((each) => (request.url ?? "").startsWith(each));
    json(path === undefined ? {} : engineResponses[path], path === undefined ? 404 : 200)(request, response);
  };
}

function inputsFor({ target }: HostileEngine, changes: Partial<ExporterInputs> = {}): ExporterInputs {
  const [endpoint] = target.endpoints;
  return {
    config: {
      cluster: "logs",
      distribution: "opensearch",
      host: endpoint?.host ?? "",
      port: endpoint?.port ?? 0,
      serverName: target.tls?.serverName,
      expectedNodes: 3,
    },
    caPem: target.tls?.caPem ?? "",
    login,
    ...changes,
  };
}

function exporterOf(
  inputs: () => ExporterInputs,
  onFailure?: (part: string, error: unknown) => void,
): Exporter {
  return new Exporter({
    system: realSystem(),
    readInputs: async () => await Promise.resolve(inputs()),
    ...(onFailure === undefined ? {} : { onFailure }),
  });
}

describe("an exporter", () => {
  test("shows what the engine says, over TLS that it verifies, with reads alone", async () => {
    await using engine = await startHostileEngine();
    engine.response = asEngine();
    await using exporter = exporterOf(() => inputsFor(engine));
    const page = await exporter.render();
    expect(page).toContain('opensearch_cluster_status{cluster="logs"} 1\n');
    expect(page).toContain('quartermaster_search_exporter_up{cluster="logs"} 1\n');
    expect(page).toContain('quartermaster_search_expected_nodes{cluster="logs"} 3\n');
    expect(page).toContain(
      'quartermaster_search_certificate_expiry_timestamp_seconds{cluster="logs",layer="http"}',
    );
    expect(page).toContain('repository="nightly"');
    expect(page).not.toContain(login.password);
    expect(engine.requested.every((each) => each.startsWith("GET "))).toBe(true);
    expect(exporter.hasResponded).toBe(true);
  });

  test("sends nothing to a server with a certificate of others", async () => {
    await using engine = await startHostileEngine();
    const other = await TestCa.create();
    await using exporter = exporterOf(() => inputsFor(engine, { caPem: other.caPem }));
    expect(await exporter.render()).toContain('quartermaster_search_exporter_up{cluster="logs"} 0\n');
    expect(engine.requested).toEqual([]);
    expect(exporter.hasResponded).toBe(false);
  });

  test("continues with a new password as soon as its file has changed", async () => {
    await using engine = await startHostileEngine();
    engine.response = asEngine("the-new-one");
    const errors: unknown[] = [];
    let password = login.password;
    const system = new VirtualSystem();
    await using exporter = new Exporter({
      system: { ...realSystem(), monotonicMs: () => system.monotonicMs() },
      readInputs: async () => await Promise.resolve(inputsFor(engine, { login: { ...login, password } })),
      onFailure: (_part, error) => void errors.push(error),
    });
    expect(await exporter.render()).toContain('exporter_up{cluster="logs"} 0');
    expect(String(errors[0])).toContain("401");
    expect(errors.map(String).join()).not.toContain(login.password);
    password = "the-new-one";
    await system.advance(3_000);
    expect(await exporter.render()).toContain('exporter_up{cluster="logs"} 1');
  });

  test("queries the engine once, however many request the page", async () => {
    await using engine = await startHostileEngine();
    engine.response = asEngine();
    await using exporter = exporterOf(() => inputsFor(engine));
    const pages = await Promise.all(Array.from({ length: 20 }, async () => await exporter.render()));
    await exporter.render();
    expect(new Set(pages).size).toBe(1);
    expect(engine.requested.filter((each) => each.includes("/_cluster/health"))).toHaveLength(1);
  });

  test("shows the rest where one part fails, and says that a role may not see snapshots", async () => {
    await using engine = await startHostileEngine();
    const good = asEngine();
    engine.response = (request, response) => {
      const { url = "" } = request;
      if (url.startsWith("/_snapshot")) json({ error: "no" }, 403)(request, response);
      else if (url.startsWith("/_nodes/stats"))
        response.writeHead(200, { "content-type": "text/html" }).end("<p>");
      else good(request, response);
    };
    const failed: string[] = [];
    await using exporter = exporterOf(
      () => inputsFor(engine),
      (part) => void failed.push(part),
    );
    const page = await exporter.render();
    expect(failed.toSorted()).toEqual(["nodes", "snapshots"]);
    expect(page).toContain('read_success{cluster="logs",part="nodes"} 0');
    expect(page).toContain('read_success{cluster="logs",part="snapshots"} 0');
    expect(page).toContain("opensearch_cluster_status");
    expect(page).not.toContain("opensearch_jvm_");
  });

  test("does not swallow a response without end", async () => {
    await using engine = await startHostileEngine();
    const good = asEngine();
    engine.response = (request, response) => {
      if (!(request.url ?? "").startsWith("/_nodes/stats")) {
        good(request, response);
        return;
      }
      response.writeHead(200, { "content-type": "application/json" });
      const chunk = Buffer.alloc(1024 * 1024, " ");
      const more = (): void => {
        while (response.write(chunk)) if (response.destroyed) return;
      };
      response.on("drain", more);
      more();
    };
    await using exporter = exporterOf(() => inputsFor(engine));
    const page = await exporter.render();
    expect(page).toContain('read_success{cluster="logs",part="nodes"} 0');
    expect(page).toContain('read_success{cluster="logs",part="health"} 1');
  });
});
