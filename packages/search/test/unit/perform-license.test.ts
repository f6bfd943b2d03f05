import { clusterLicense } from "@quartermaster/api/licensing";
import type { Context } from "@quartermaster/runtime";
import { VirtualSystem } from "@quartermaster/runtime/testing";
import { expect, test } from "vitest";

import type { EngineClient } from "../../src/engine/engine-client.ts";
import { EngineError, type EngineErrorCode } from "../../src/engine/engine-error.ts";
import type { EngineLicense, LicenseResponse } from "../../src/engine/engine-facts.ts";
import { type LicenseAttempt, LicenseAttempts } from "../../src/license/license-attempts.ts";
import { type LicenseAction, performLicense } from "../../src/license/perform-license.ts";
import type { SearchObserver } from "../../src/search-metrics.ts";
import { anElasticsearch } from "../a-search-cluster.ts";

const nowMs = Date.UTC(2025, 5, 1);
const licenseOf = (uid: string, type: string): EngineLicense => ({
  uid,
  type,
  status: "active",
  expiryMs: undefined,
  maxNodes: 10,
});
const basic = licenseOf("b", "basic");
const gold = licenseOf("g1", "gold");
const platinum = licenseOf("p1", "platinum");
const response = (
  outcome: LicenseResponse["outcome"],
  more: Partial<LicenseResponse> = {},
): LicenseResponse => ({
  outcome,
  messages: [],
  ...more,
});

/** What an engine says to one call after the other; it notes the calls. */
interface Script {
  readonly licenses: readonly EngineLicense[];
  readonly responses?: readonly (LicenseResponse | EngineErrorCode)[];
}

/** Stands in for an engine behind our own small interface: every row of the license API, also those that no real one can be made to say. */
function scripted({ licenses, responses = [] }: Script): {
  readonly client: EngineClient;
  readonly calls: string[];
} {
  const calls: string[] = [];
  const output = [...licenses];
  const left = [...responses];
  const write = async (call: string): Promise<LicenseResponse> => {
    calls.push(call);
    const next = left.shift() ?? "unreachable";
    if (typeof next === "string") throw new EngineError(`${call}: scripted`, { code: next });
    return await Promise.resolve(next);
  };
  const client: Partial<EngineClient> = {
    license: async () => {
      calls.push("GET");
      const next = output.length > 1 ? output.shift() : output[0];
      if (next === undefined) throw new EngineError("license: scripted", { code: "forbidden" });
      return await Promise.resolve(next);
    },
    putLicense: async (_file, { acknowledge }) => await write(acknowledge ? "PUT yes" : "PUT"),
    startTrial: async () => await write("start trial"),
    startBasic: async () => await write("start basic"),
  };
  return { client: client as EngineClient, calls };
}

const put: LicenseAction = {
  kind: "putLicense",
  uid: "g1",
  digest: "d",
  file: {},
  startMs: nowMs - 86_400_000,
  warnsFirst: false,
};
const startTrial: LicenseAction = { kind: "startLicense", type: "trial", digest: "start trial" };
const startBasic: LicenseAction = { kind: "startLicense", type: "basic", digest: "start basic" };
const revert: LicenseAction = { ...startBasic, from: { uid: "p1", isLost: true } };

interface Row {
  readonly name: string;
  readonly action: LicenseAction;
  readonly engine: Script;
  /** Uids of ClusterLicenses that the API server has. */
  readonly present?: readonly string[];
  readonly want: {
    readonly calls: readonly string[];
    readonly result: object;
    readonly events?: readonly string[];
  };
}

const applied = { outcome: "applied" };
const refusedAs = (reason: string): object => ({ outcome: "rejected", reason });

/** What is told of an attempt that ended. */
function eventOf(attempt: LicenseAttempt | undefined): string {
  return attempt?.outcome === "applied" ? "LicenseApplied" : (attempt?.reason ?? "");
}

test.each<Row>([
  {
    name: "[licensing/P1] what runs already is not sent",
    action: put,
    engine: { licenses: [gold] },
    want: { calls: ["GET"], result: applied, events: ["LicenseApplied"] },
  },
  {
    name: "[licensing/P2] another one is sent once, acknowledged, and read back",
    action: put,
    engine: { licenses: [basic, gold], responses: [response("applied")] },
    want: { calls: ["GET", "PUT yes", "GET"], result: { ...applied, current: gold } },
  },
  {
    name: "taken by the response and not by what runs: not applied",
    action: put,
    engine: { licenses: [basic, basic], responses: [response("applied")] },
    want: { calls: ["GET", "PUT yes", "GET"], result: { outcome: "failed" }, events: [] },
  },
  {
    name: "[licensing/A4] a lower type is first sent without acknowledgement, and the engine's words are kept",
    action: { ...put, warnsFirst: true },
    engine: {
      licenses: [platinum, gold],
      responses: [
        response("acknowledgeRequired", { messages: ["Machine learning will be disabled."] }),
        response("applied"),
      ],
    },
    want: {
      calls: ["GET", "PUT", "PUT yes", "GET"],
      result: { ...applied, message: "Machine learning will be disabled." },
    },
  },
  ...[
    { name: "a minute before its start", sinceStartMs: -60_000, isTooEarly: true },
    { name: "at its start", sinceStartMs: 0, isTooEarly: true },
    { name: "just before five minutes are over", sinceStartMs: 5 * 60_000 - 1, isTooEarly: true },
    { name: "five minutes after its start", sinceStartMs: 5 * 60_000, isTooEarly: false },
  ].map(({ name, sinceStartMs, isTooEarly }) => ({
    name: `invalid for the engine ${name}: ${isTooEarly ? "its clock may be behind, tried again" : "refused"}`,
    action: { ...put, startMs: nowMs - sinceStartMs },
    engine: { licenses: [basic], responses: [response("invalid")] },
    want: {
      calls: ["GET", "PUT yes"],
      result: { outcome: isTooEarly ? "failed" : "rejected" },
      ...(isTooEarly ? { events: [] } : {}),
    },
  })),
  {
    name: "[licensing/P3] acknowledged, and the engine still asks: refused with its words",
    action: put,
    engine: {
      licenses: [basic],
      responses: [response("acknowledgeRequired", { messages: ["Watcher will be disabled."] })],
    },
    want: {
      calls: ["GET", "PUT yes"],
      result: {
        ...refusedAs("NeedsAcknowledgement"),
        message: "acknowledgeRequired: Watcher will be disabled.",
      },
      events: ["NeedsAcknowledgement"],
    },
  },
  {
    name: "[licensing/P4] a wrong signature",
    action: put,
    engine: { licenses: [basic], responses: [response("invalid")] },
    want: {
      calls: ["GET", "PUT yes"],
      result: refusedAs("RejectedByCluster"),
      events: ["RejectedByCluster"],
    },
  },
  {
    name: "[licensing/P5] invalid two minutes after its start: tried again",
    action: { ...put, startMs: nowMs - 120_000 },
    engine: { licenses: [basic], responses: [response("invalid")] },
    want: { calls: ["GET", "PUT yes"], result: { outcome: "failed" }, events: [] },
  },
  {
    name: "[licensing/P6] expired by the engine's clock",
    action: put,
    engine: { licenses: [basic], responses: [response("expired")] },
    want: { calls: ["GET", "PUT yes"], result: refusedAs("LicenseExpired") },
  },
  {
    name: "[licensing/P7] a type that the cluster does not take",
    action: put,
    engine: { licenses: [basic], responses: [response("invalid", { cause: "typeNotAllowed" })] },
    want: { calls: ["GET", "PUT yes"], result: refusedAs("UploadTypeNotAllowed") },
  },
  {
    name: "[licensing/P8] a cluster without transport TLS",
    action: put,
    engine: { licenses: [basic], responses: [response("invalid", { cause: "tlsRequired" })] },
    want: { calls: ["GET", "PUT yes"], result: refusedAs("TLSRequired") },
  },
  {
    name: "[licensing/P11] the license may not be read: nothing is sent",
    action: put,
    engine: { licenses: [] },
    want: { calls: ["GET"], result: { outcome: "failed", reason: "AuthFailed" }, events: [] },
  },
  {
    name: "[licensing/P17] the license may be read and not changed",
    action: put,
    engine: { licenses: [basic], responses: ["forbidden"] },
    want: {
      calls: ["GET", "PUT yes"],
      result: { outcome: "failed", reason: "InsufficientPrivileges" },
      events: [],
    },
  },
  {
    name: "[licensing/T1] a trial is started once",
    action: startTrial,
    engine: { licenses: [licenseOf("t", "trial")], responses: [response("applied")] },
    want: { calls: ["start trial", "GET"], result: { ...applied, uid: "t" } },
  },
  {
    name: "[licensing/T2] a trial that was used up",
    action: startTrial,
    engine: { licenses: [basic], responses: [response("refused")] },
    want: { calls: ["start trial"], result: refusedAs("TrialNotAvailable"), events: ["TrialNotAvailable"] },
  },
  {
    name: "[licensing/B2] basic is started once",
    action: startBasic,
    engine: { licenses: [basic], responses: [response("applied")] },
    want: { calls: ["start basic", "GET"], result: applied },
  },
  {
    name: "[licensing/B3] basic runs already",
    action: startBasic,
    engine: { licenses: [basic], responses: [response("alreadySo")] },
    want: { calls: ["start basic", "GET"], result: applied },
  },
  {
    name: "a lost license makes way for basic",
    action: revert,
    engine: { licenses: [platinum, basic], responses: [response("applied")] },
    present: ["another"],
    want: { calls: ["GET", "start basic", "GET"], result: applied },
  },
  {
    name: "a lost license that is back by now stays",
    action: revert,
    engine: { licenses: [platinum] },
    present: ["p1"],
    want: { calls: ["GET"], result: { outcome: "failed" }, events: [] },
  },
  {
    name: "an engine that runs under another one by now is left alone",
    action: revert,
    engine: { licenses: [gold] },
    want: { calls: ["GET"], result: { outcome: "failed" }, events: [] },
  },
])("$name", async ({ action, engine, present = [], want }) => {
  const system = new VirtualSystem();
  const counted: string[] = [];
  const attempts = new LicenseAttempts(system);
  const { client, calls } = scripted(engine);
  const events: string[] = [];
  const cluster = anElasticsearch("7.17.28");
  const ctx = {
    events: { record: ({ reason }: { readonly reason: string }) => events.push(reason) },
    client: {
      list: async function* (kind: unknown, { namespace }: { readonly namespace: string }) {
        expect([kind, namespace]).toEqual([clusterLicense.kind, cluster.namespace]);
        for (const uid of present) yield await Promise.resolve({ spec: { uid } });
      },
    },
  } as unknown as Context;
  const observer: SearchObserver = { licenseTried: (outcome) => counted.push(outcome) };
  await performLicense(action, {
    cluster,
    ctx,
    attempts,
    observer,
    engine: () => client,
    nowMs: () => nowMs,
  });
  expect(calls).toEqual(want.calls);
  const attempt = attempts.of(cluster.uid);
  expect(attempt).toMatchObject(want.result);
  expect(events).toEqual(want.events ?? [eventOf(attempt)]);
  expect(counted).toEqual([attempt?.outcome]);
});
