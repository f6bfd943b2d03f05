import { getEventListeners } from "node:events";

import { describe, expect, test } from "vitest";

import { ApiError, type ApiErrorFacts } from "../../src/errors.ts";
import { VirtualSystem } from "../../src/testing/virtual-system.ts";
import { headersOf, serverAddress } from "../../src/transport/api-request.ts";
import { Deadline } from "../../src/transport/deadline.ts";
import { failureError } from "../../src/transport/failure-error.ts";
import { retryDelayMs } from "../../src/transport/retry-delay-ms.ts";

function error(facts: Partial<ApiErrorFacts> & Pick<ApiErrorFacts, "class">): ApiError {
  return new ApiError("x", { mayHaveActed: false, ...facts });
}

describe("another attempt", () => {
  const rows = [
    {
      name: "read after transient",
      method: "GET",
      error: error({ class: "transient", mayHaveActed: true }),
      want: true,
    },
    {
      name: "read after the server's own timeout",
      method: "GET",
      error: error({ class: "timeout", status: 504 }),
      want: true,
    },
    { name: "read after our own deadline", method: "GET", error: error({ class: "timeout" }), want: false },
    {
      name: "read of a version not seen yet",
      method: "GET",
      error: error({ class: "transient", reason: "ResourceVersionTooLarge" }),
      want: false,
    },
    {
      name: "read over a connection we do not trust",
      method: "GET",
      error: error({ class: "transient", reason: "CERT_HAS_EXPIRED" }),
      want: false,
    },
    { name: "read of nothing", method: "GET", error: error({ class: "notFound" }), want: false },
    { name: "write that never left", method: "POST", error: error({ class: "transient" }), want: true },
    {
      name: "write that may have acted",
      method: "PATCH",
      error: error({ class: "transient", mayHaveActed: true }),
      want: false,
    },
    {
      name: "write told to wait",
      method: "PUT",
      error: error({ class: "tooManyRequests", retryAfterMs: 5 }),
      want: true,
    },
    {
      name: "write refused by a budget",
      method: "POST",
      error: error({ class: "tooManyRequests" }),
      want: false,
    },
    { name: "write in conflict", method: "DELETE", error: error({ class: "conflict" }), want: false },
    { name: "write too large", method: "PUT", error: error({ class: "tooLarge" }), want: false },
  ] as const;
  test.each(rows)("$name: $want", ({ method, error: given, want }) => {
    expect(retryDelayMs({ method, error: given, attempts: 1, random: 0.5 }) !== undefined).toBe(want);
  });

  test("comes later each time, with jitter, and never a sixth", () => {
    const given = error({ class: "transient" });
    const delays = (random: number): readonly unknown[] =>
      [1, 2, 3, 4, 5].map((attempts) => retryDelayMs({ method: "GET", error: given, attempts, random }));
    expect(delays(0)).toEqual([100, 200, 400, 800, undefined]);
    expect(delays(1)).toEqual([200, 400, 800, 1_600, undefined]);
  });

  test("waits as long as the server asked, and a little more", () => {
    const given = error({ class: "tooManyRequests", retryAfterMs: 7_000 });
    expect(retryDelayMs({ method: "GET", error: given, attempts: 1, random: 0.5 })).toBe(7_050);
  });
});

describe("the deadline", () => {
  test("ends by time, tells its listener once, and cuts a sleep short", async () => {
    const system = new VirtualSystem();
    using deadline = new Deadline(system, 1_000);
    let reported = 0;
    deadline.onEnd(() => {
      reported += 1;
    });
    await system.advance(999);
    expect([deadline.ended, reported, deadline.remainingMs]).toEqual([undefined, 0, 1]);
    const slept = deadline.sleep(60_000);
    await system.advance(1);
    await slept;
    expect(deadline.ended).toBe("timeout");
    expect(await deadline.within(new Promise(() => undefined))).toBeUndefined();
  });

  test("ends by signal with its reason and leaves no listener behind", () => {
    const system = new VirtualSystem();
    const controller = new AbortController();
    const deadline = new Deadline(system, 1_000, controller.signal);
    controller.abort("because");
    expect([deadline.ended, deadline.abortReason]).toEqual(["aborted", "because"]);
    deadline[Symbol.dispose]();
    expect(system.pendingTimers).toBe(0);
    const lasting = new AbortController();
    new Deadline(system, 1_000, lasting.signal)[Symbol.dispose]();
    expect(getEventListeners(lasting.signal, "abort")).toHaveLength(0);
  });
});

describe("failures without a response", () => {
  const request = { verb: "get", subject: { kind: "Pod", ref: { name: "a", namespace: "n" } } };
  const refused = Object.assign(new Error("connect"), { code: "ECONNREFUSED" });
  const rows = [
    {
      name: "refused",
      given: { why: "broken", sent: false, cause: refused },
      want: "get Pod n/a: no connection (ECONNREFUSED)",
    },
    {
      name: "wrapped",
      given: { why: "broken", sent: true, cause: new Error("w", { cause: refused }) },
      want: "get Pod n/a: connection broke (ECONNREFUSED)",
    },
    {
      name: "late",
      given: { why: "timeout", sent: true, cause: undefined },
      want: "get Pod n/a: no response in time",
    },
    {
      name: "late to connect",
      given: { why: "timeout", sent: false, cause: undefined },
      want: "get Pod n/a: no connection in time",
    },
  ] as const;
  test.each(rows)("$name", ({ given, want }) => {
    const made = failureError(request, given);
    expect([made.message, made.mayHaveActed]).toEqual([want, given.sent]);
  });
});

describe("the wire", () => {
  test("keeps the path of a server behind a prefix", () => {
    expect(serverAddress("https://h:8443/k8s/clusters/c1/")).toEqual({
      origin: "https://h:8443",
      basePath: "/k8s/clusters/c1",
      host: "h:8443",
    });
    expect(serverAddress("https://[::1]:6443").origin).toBe("https://[::1]:6443");
  });

  test("sends a content type only with a body", () => {
    const request = { method: "GET", path: "/", verb: "get", subject: { kind: "x" } } as const;
    expect(headersOf(request, undefined, "u")).toEqual(["accept", "application/json", "user-agent", "u"]);
    expect(headersOf({ ...request, body: {} }, "Bearer t", "u").slice(4)).toEqual([
      "authorization",
      "Bearer t",
      "content-type",
      "application/json",
    ]);
  });
});
