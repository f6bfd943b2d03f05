import { hatchCanary } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { ApiError } from "../../src/errors.ts";
import { LazyLog, type LogFields } from "../../src/reconcile/log.ts";
import { realSystem } from "../../src/system/real-system.ts";
import { createLog } from "../../src/telemetry/create-log.ts";
import { createMetrics } from "../../src/telemetry/metrics.ts";
import { errorFacts, plainFacts } from "../../src/telemetry/plain-facts.ts";

function lines(write: (log: ReturnType<typeof createLog>) => void): string {
  let text = "";
  write(createLog({ level: "debug", destination: { write: (line) => (text += line) } }));
  return text;
}

function thrownBy(act: () => unknown): Error {
  try {
    act();
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error("nothing was thrown");
}

describe("a log line", () => {
  test("is one of JSON with level, time, message and fields", () => {
    const text = lines((log) => {
      log.with({ controller: "copy" }).info("state changed", { attempt: 2, isLast: false, none: undefined });
    });
    expect(JSON.parse(text)).toMatchObject({
      level: "info",
      controller: "copy",
      message: "state changed",
      attempt: 2,
      isLast: false,
    });
    expect(JSON.parse(text)).not.toHaveProperty("none");
    expect(JSON.parse(text)).not.toHaveProperty("pid");
  });

  test("below the level is not written", () => {
    let text = "";
    createLog({ destination: { write: (line) => (text += line) } }).debug("quiet");
    expect(text).toBe("");
  });

  test("of a lazy log bears its fields, which are made once, and not for lines below the level", () => {
    let made = 0;
    const fields = (): LogFields => {
      made += 1;
      return { reconcileId: `id-${made}` };
    };
    let text = "";
    const base = createLog({ destination: { write: (line) => (text += line) } });
    const quiet = new LazyLog(base, fields);
    quiet.debug("quiet");
    expect([made, quiet.isDebug]).toEqual([0, false]);
    quiet.warn("first", { code: 1 });
    quiet.with({ lane: "nodes" }).error("second");
    const written = text.trimEnd().split("\n");
    expect(written.map((line): unknown => JSON.parse(line))).toMatchObject([
      { level: "warn", message: "first", code: 1, reconcileId: "id-1" },
      { level: "error", message: "second", lane: "nodes", reconcileId: "id-1" },
    ]);
    const loud = lines((log) => {
      new LazyLog(log, fields).debug("told", { rule: "only" });
    });
    expect(JSON.parse(loud)).toMatchObject({ message: "told", rule: "only", reconcileId: "id-2" });
  });

  test("shows an error as class, code, message and frames", () => {
    const text = lines((log) => {
      const cause = new TypeError("x is not a function");
      const error = new ApiError("get Pod n/a: 404", { class: "notFound", mayHaveActed: false, cause });
      log.error("reconcile failed", { err: error });
    });
    const { err } = JSON.parse(text) as { err: Record<string, unknown> };
    expect(err).toMatchObject({ class: "ApiError", code: "notFound", message: "get Pod n/a: 404" });
    expect(err["stack"]).toMatch(/^at /);
    expect(err["cause"]).toMatchObject({ class: "TypeError", code: "bug", message: "x is not a function" });
  });

  test("names objects of the cluster and leaves out all other objects", () => {
    const secret = {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { namespace: "n", name: "s" },
      data: { a: "eA==" },
    };
    expect(
      plainFacts({
        secret,
        bytes: Buffer.from("x"),
        map: { password: "x" },
        list: [1, { a: 1 }],
        at: 10n,
        none: null,
      }),
    ).toEqual({
      secret: "Secret n/s",
      bytes: "[left out: bytes]",
      map: "[left out: object]",
      list: [1, "[left out: object]"],
      at: "10",
      none: null,
    });
  });
});

describe("a canary", () => {
  const canary = hatchCanary();
  const encoded = Buffer.from(canary.value).toString("base64");
  const secret = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "s" },
    data: { password: encoded },
    stringData: { password: canary.value },
  };
  const circular: Record<string, unknown> = { value: canary.value };
  circular["self"] = circular;

  class Holder {
    readonly token = canary.value;
    toJSON(): string {
      return this.token;
    }
    toString(): string {
      return this.token;
    }
  }

  const bearer = new Error("request failed");
  Object.assign(bearer, {
    response: { body: canary.value },
    headers: { authorization: `Bearer ${canary.value}` },
  });

  const rows: readonly { readonly name: string; readonly given: unknown }[] = [
    { name: "in a Secret", given: secret },
    { name: "in a list of Secrets", given: [secret, [secret]] },
    { name: "in bytes", given: Buffer.from(canary.value) },
    { name: "in a typed array", given: new Uint8Array(Buffer.from(canary.value)) },
    { name: "in a map", given: new Map([["a", canary.value]]) },
    { name: "in a set", given: new Set([canary.value]) },
    { name: "in an object with toJSON", given: new Holder() },
    { name: "in a circular object", given: circular },
    { name: "in a URL", given: new URL(`https://u:${encodeURIComponent(canary.value)}@host/`) },
    { name: "in headers", given: new Headers({ authorization: `Bearer ${canary.value}` }) },
    { name: "in a function", given: () => canary.value },
    { name: "in an error's body", given: bearer },
    {
      name: "in an error's cause that is an object",
      given: new Error("failed", { cause: { body: canary.value } }),
    },
    {
      name: "in the cause of a cause",
      given: new Error("a", { cause: new Error("b", { cause: new Error(`'${canary.value}'`) }) }),
    },
    { name: "in an aggregate", given: new AggregateError([new Error(canary.value)], "several") },
    { name: "in what a JSON parser quotes", given: thrownBy(() => JSON.parse(canary.value)) },
    {
      name: "in what a JSON parser quotes with quotes",
      given: thrownBy(() => JSON.parse(`{"password":"${canary.value}"`)),
    },
    {
      name: "in what a header check quotes",
      given: thrownBy(() => new Headers({ a: `${canary.value}\n\0` })),
    },
    { name: "in what a URL parser quotes", given: thrownBy(() => new URL(canary.value)) },
    {
      name: "in what the API server quotes",
      given: new ApiError(`apply Secret n/s: 422 Invalid value: "${canary.value}"`, {
        class: "invalid",
        mayHaveActed: false,
        causes: [{ field: "data", reason: "x", message: canary.value }],
      }),
    },
    { name: "in a message without quotation marks", given: new Error(`token ${canary.value} refused`) },
  ];

  test.each(rows)("[runtime/RT-31] $name does not reach the log", ({ given }) => {
    const text = lines((log) => {
      log.with({ given }).error("failed", { given, err: given, list: [given] });
    });
    expect(text).toContain('"message":"failed"');
    expect(canary.leaksIn(text)).toEqual([]);
  });

  test("[runtime/RT-31] does not reach the metrics", async () => {
    const metrics = createMetrics({ system: realSystem(), controllers: [{ name: "copy" }] });
    metrics.telemetry.handlerFailed?.({ kind: "Secret", error: new Error(canary.value) });
    metrics.telemetry.stateChanged?.({ kind: "Secret", state: "watching", error: new Error(canary.value) });
    const kind = {
      group: "",
      version: "v1",
      kind: "Secret",
      plural: "secrets",
      scope: "Namespaced",
    } as const;
    metrics.telemetry.quarantined?.({ target: { kind }, object: secret });
    const text = await metrics.render();
    expect(text).toContain('quartermaster_quarantined_objects_total{kind="Secret"} 1');
    expect(canary.leaksIn(text)).toEqual([]);
  });

  test("[runtime/RT-31] in a refused object does not reach the error's facts", () => {
    const error = new ApiError(`create Thing n/t: 422 spec.a: Invalid value: "${canary.value}": too long`, {
      class: "invalid",
      mayHaveActed: false,
    });
    const facts = errorFacts(error);
    expect(facts.message).toBe('create Thing n/t: 422 spec.a: Invalid value: "…": too long');
    expect(canary.leaksIn(JSON.stringify(facts))).toEqual([]);
  });
});
