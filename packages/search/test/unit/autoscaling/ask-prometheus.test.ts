import { connect } from "node:net";

import { realSystem } from "@quartermaster/runtime";
import { eventually, prometheusProgram } from "@quartermaster/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { queryPrometheus, type PrometheusTarget } from "../../../src/autoscaling/query-prometheus.ts";
import { type Reply, type HostileEngine, json, startHostileEngine } from "../../support/hostile-engine.ts";
import { TestCa } from "../../support/test-certificates.ts";
import { startTlsPrometheus } from "../../support/tls-prometheus.ts";

const serverName = "logs-prometheus.team.svc";
const query = 'avg(rate(searches{node=~"a|b"}[5m])) + 1';
const ask = queryPrometheus({ system: realSystem(), timeoutMs: 500 });

let ca: TestCa;
let server: HostileEngine;
let target: PrometheusTarget;

beforeAll(async () => {
  ca = await TestCa.create();
  server = await startHostileEngine({ ca, dnsNames: [serverName] });
  target = targetOf(server);
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

function targetOf({ target: { endpoints } }: HostileEngine): PrometheusTarget {
  const [endpoint = { node: "", host: "", port: 0 }] = endpoints;
  return { endpoint, tls: { caPem: ca.caPem, serverName, client: undefined } };
}

async function responseTo(reply: Reply): Promise<readonly (readonly [string, number])[]> {
  server.response = reply;
  return [...(await ask(target, [query]))];
}

const vector = (...values: readonly string[]): Reply =>
  json({
    status: "success",
    data: { resultType: "vector", result: values.map((value) => ({ metric: {}, value: [1.5, value] })) },
  });

const scalar = (value: unknown): Reply =>
  json({ status: "success", data: { resultType: "scalar", result: [1, value] } });

describe("a number", () => {
  test.each([
    { name: "a vector of one sample", response: vector("12.5"), want: 12.5 },
    { name: "a scalar", response: scalar("3"), want: 3 },
    { name: "nothing in progress", response: vector("0"), want: 0 },
    { name: "a large one as Go writes it", response: vector("1.5e+06"), want: 1_500_000 },
    { name: "one beyond all measure", response: vector("1e300"), want: Number.MAX_SAFE_INTEGER },
  ])("$name is read", async ({ response: reply, want }) => {
    expect(await responseTo(reply)).toEqual([[query, want]]);
  });

  test("is requested with the query as it was written, and with limits of its own", async () => {
    await responseTo(vector("1"));
    const url = new URL(server.requested.at(-1)?.replace("GET ", "") ?? "", "https://host");
    expect(url.pathname).toBe("/api/v1/query");
    expect(Object.fromEntries(url.searchParams)).toEqual({ query, timeout: "4s", limit: "2" });
  });
});

describe("unknown", () => {
  const cases: readonly { readonly name: string; readonly response: Reply }[] = [
    { name: "no sample", response: vector() },
    { name: "two samples", response: vector("1", "2") },
    { name: "NaN", response: vector("NaN") },
    { name: "+Inf", response: vector("+Inf") },
    { name: "a number that is infinite once it is read", response: scalar("1e999") },
    { name: "less than nothing", response: vector("-1") },
    { name: "a hexadecimal number", response: scalar("0x10") },
    { name: "empty text", response: scalar("") },
    { name: "a number without quotes", response: scalar(5) },
    {
      name: "a matrix",
      response: json({ status: "success", data: { resultType: "matrix", result: [{ values: [[1, "1"]] }] } }),
    },
    {
      name: "a string",
      response: json({ status: "success", data: { resultType: "string", result: [1, "5"] } }),
    },
    {
      name: "a histogram",
      response: json({
        status: "success",
        data: { resultType: "vector", result: [{ metric: {}, histogram: [1, { count: "5" }] }] },
      }),
    },
    {
      name: "an error with a number",
      response: json({ status: "error", data: { resultType: "scalar", result: [1, "5"] } }),
    },
    {
      name: "a query that it does not understand",
      response: json({ status: "error", errorType: "bad_data" }, 400),
    },
    {
      name: "a number with another status",
      response: json({ status: "success", data: { resultType: "scalar", result: [1, "5"] } }, 503),
    },
    { name: "null", response: json(null) },
    {
      name: "a page for people",
      response: (_request, response) => {
        response.writeHead(200, { "content-type": "text/html" }).end("<html>5</html>");
      },
    },
    {
      name: "10 MB",
      response: (_request, response) => {
        const value = { metric: { pad: "x".repeat(10_000_000) }, value: [1, "5"] };
        json({ status: "success", data: { resultType: "vector", result: [value] } })(_request, response);
      },
    },
    {
      name: "half a response",
      response: (_request, response) => response.writeHead(200).write("{", () => response.destroy()),
    },
    { name: "nothing in time", response: () => undefined },
    {
      name: "a drop now and then",
      response: (_request, response) => {
        response.writeHead(200);
        const drops = setInterval(() => response.write(" "), 50);
        response.once("close", () => {
          clearInterval(drops);
        });
      },
    },
  ];
  test.each(cases)("$name", async ({ response: reply }) => {
    expect(await responseTo(reply)).toEqual([]);
  });

  test("a redirect, which is not followed", async () => {
    await using other = await startHostileEngine({ ca, dnsNames: [serverName] });
    other.response = vector("5");
    const { port } = targetOf(other).endpoint;
    const reply: Reply = (_request, response) => {
      response.writeHead(307, { location: `https://127.0.0.1:${String(port)}/api/v1/query` }).end();
    };
    expect(await responseTo(reply)).toEqual([]);
    expect(other.requested).toEqual([]);
  });

  test("another client's certificate, of another name or another CA: no query is sent", async () => {
    await using namesake = await startHostileEngine({ dnsNames: [serverName] });
    await using neighbour = await startHostileEngine({ ca, dnsNames: ["other-prometheus.team.svc"] });
    for (const stranger of [namesake, neighbour]) {
      stranger.response = vector("5");
      expect(await ask(targetOf(stranger), [query])).toEqual(new Map());
      expect(stranger.requested).toEqual([]);
    }
  });

  test("no one there", async () => {
    const nowhere = { ...target, endpoint: { ...target.endpoint, port: 1 } };
    expect(await ask(nowhere, [query])).toEqual(new Map());
  });
});

test("one query that fails leaves the others, and all go over connections that the operator dials", async () => {
  const dialled: string[] = [];
  const dialling = queryPrometheus({
    system: realSystem(),
    timeoutMs: 500,
    dial: async ({ node, host, port }) => {
      dialled.push(node);
      return await Promise.resolve(connect({ host, port }));
    },
  });
  server.response = (request, response) => {
    const isKnown = (request.url ?? "").includes("known");
    (isKnown ? vector("7") : vector())(request, response);
  };
  const responses = await dialling(target, ["lost", "known", "\u{D800}known"]);
  expect([...responses]).toEqual([
    ["known", 7],
    ["\u{D800}known", 7],
  ]);
  expect(dialled).toEqual(["os-a-0"]);
});

const program = prometheusProgram("prometheus");

describe.runIf(program !== undefined)(
  "a real Prometheus (skipped where Debian's package cannot be had)",
  () => {
    test("says numbers that are read, and everything else is unknown", { timeout: 60_000 }, async () => {
      await using prometheus = await startTlsPrometheus(program ?? "", serverName);
      const patient = queryPrometheus({ system: realSystem() });
      const two = 'vector(1) or label_replace(vector(2), "a", "b", "", "")';
      const numbers = ["vector(12.5)", "scalar(vector(3))", "1500000 * 1000000", "sum(absent(up))"];
      const unknown = [
        "up",
        two,
        "vector(0) / 0",
        "1 / 0",
        "vector(-1)",
        "vector(1)[5m:1m]",
        '"text"',
        "sum(",
      ];
      const responses = await eventually(
        async () => {
          const found = await patient(prometheus.target, [...numbers, ...unknown]);
          // The first query is the one that meets a Prometheus which is still starting.
          return found.has("vector(12.5)") ? found : undefined;
        },
        { withinMs: 30_000 },
      );
      expect([...responses]).toEqual([
        ["vector(12.5)", 12.5],
        ["scalar(vector(3))", 3],
        ["1500000 * 1000000", 1_500_000_000_000],
        ["sum(absent(up))", 1],
      ]);
    });
  },
);
