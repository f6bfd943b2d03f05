import { describe, expect, test } from "vitest";

import type { TraceEntry } from "../../src/fault-proxy/fault-proxy.ts";
import { preconditionsOf, withoutPreconditions } from "../../src/fault-proxy/preconditions.ts";
import { publishedReady } from "../../src/fault-proxy/published-ready.ts";
import { describeRequest } from "../../src/fault-proxy/seen-request.ts";
import { observesSpec } from "../../src/fault-walk/judge.ts";
import {
  committedWrites,
  countWrites,
  earlyReady,
  earlyWrite,
  forbiddenRequest,
  repeatedWrite,
  unguardedWrite,
  wastedWrites,
  writeAtRest,
  writeByOther,
} from "../../src/fault-walk/trace.ts";

interface Given {
  readonly user?: string;
  readonly status?: number;
  readonly contentType?: string;
  readonly body?: object;
  readonly fault?: TraceEntry["fault"];
}

const configMaps = "/api/v1/namespaces/ns/configmaps";
const merge = "application/merge-patch+json";
const apply = "application/apply-patch+yaml";
const uid = { metadata: { uid: "u-1" } };

/** A request such as `PATCH /api/v1/namespaces/ns/configmaps/a`. */
function entry(
  request: string,
  { user, status = 200, contentType, body = {}, fault }: Given = {},
): TraceEntry {
  const [method = "", url = ""] = request.split(" ");
  const headers = user === undefined ? {} : { "impersonate-user": user };
  return {
    ...describeRequest({ method, url, headers }, 1),
    status,
    fault,
    contentType,
    bodySha256: "",
    preconditions: preconditionsOf(method, JSON.stringify(body)),
  };
}

describe("[faults/O3] each destructive write bears a precondition", () => {
  const deletion = `DELETE ${configMaps}/a`;
  const patch = `PATCH ${configMaps}/a`;
  test.each([
    { name: "a delete of whatever has the name", given: entry(deletion), isBroken: true },
    {
      name: "a delete that names only a version",
      given: entry(deletion, { body: { preconditions: { resourceVersion: "1" } } }),
      isBroken: true,
    },
    {
      name: "a delete of the object that was seen",
      given: entry(deletion, { body: { preconditions: { uid: "u-1" } } }),
      isBroken: false,
    },
    { name: "a delete of a collection", given: entry(`DELETE ${configMaps}`), isBroken: true },
    { name: "a dry run of a delete", given: entry(`${deletion}?dryRun=All`), isBroken: false },
    { name: "a merge patch", given: entry(patch, { contentType: merge }), isBroken: true },
    {
      name: "a merge patch of the object that was seen",
      given: entry(patch, { contentType: merge, body: uid }),
      isBroken: false,
    },
    { name: "a replacement", given: entry(`PUT ${configMaps}/a`), isBroken: true },
    {
      name: "a replacement of the version that was read",
      given: entry(`PUT ${configMaps}/a`, { body: { metadata: { resourceVersion: "1" } } }),
      isBroken: false,
    },
    { name: "a forced apply", given: entry(`${patch}?force=true`, { contentType: apply }), isBroken: true },
    {
      name: "a forced apply that created the object",
      given: entry(`${patch}?force=true`, { contentType: apply, status: 201 }),
      isBroken: false,
    },
    { name: "an apply that forces nothing", given: entry(patch, { contentType: apply }), isBroken: false },
    { name: "a create", given: entry(`POST ${configMaps}`, { status: 201 }), isBroken: false },
    {
      name: "a patch of an event",
      given: entry("PATCH /apis/events.k8s.io/v1/namespaces/ns/events/e", { contentType: merge }),
      isBroken: false,
    },
  ])("$name: $isBroken", ({ given, isBroken }) => {
    expect(unguardedWrite([entry(`GET ${configMaps}/a`), given])?.slice(0, 4)).toBe(
      isBroken ? "O3: " : undefined,
    );
  });

  test.each([
    { name: "both", without: ["uid", "resourceVersion"], want: {} },
    { name: "the version", without: ["resourceVersion"], want: { uid: "u-1" } },
    { name: "nothing", without: [], want: { uid: "u-1", resourceVersion: "1" } },
  ] as const)("the kit takes $name away from a request", ({ without, want }) => {
    const preconditions = { uid: "u-1", resourceVersion: "1" };
    for (const [method, body] of [
      ["DELETE", { preconditions }],
      ["PUT", { metadata: preconditions, data: { a: "1" } }],
    ] as const) {
      const message = { method, path: "/", headers: {}, body: Buffer.from(JSON.stringify(body)) };
      const stripped = withoutPreconditions(message, without).body.toString("utf8");
      const location = method === "DELETE" ? "preconditions" : "metadata";
      expect(JSON.parse(stripped)).toEqual({ ...body, [location]: want });
    }
  });
});

describe("[faults/O2] creates and deletes per object equal the undisturbed run", () => {
  const created = entry(`POST ${configMaps}`, { status: 201 });
  const named = (request: TraceEntry, name: string): TraceEntry => ({ ...request, name });
  const reference = [named(created, "a-ns"), entry(`DELETE ${configMaps}/b`)];
  const aliases = { ns: "x" };
  const usual = countWrites(reference, aliases);
  test.each([
    { name: "the same", trace: reference, want: undefined },
    { name: "one less", trace: reference.slice(1), want: undefined },
    { name: "an update more", trace: [...reference, entry(`PATCH ${configMaps}/b`)], want: undefined },
    {
      name: "a create that failed more",
      trace: [...reference, named(entry(`POST ${configMaps}`, { status: 409 }), "a-ns")],
      want: undefined,
    },
    {
      name: "a second create",
      trace: [...reference, named(created, "a-ns")],
      want: "O2: create configmaps a-x succeeded 2 times instead of 1",
    },
    {
      name: "a delete of another object",
      trace: [...reference, entry(`DELETE ${configMaps}/c`)],
      want: "O2: delete configmaps c succeeded 1 times instead of 0",
    },
  ])("$name", ({ trace, want }) => {
    expect(repeatedWrite(trace, { aliases, usual })).toBe(want);
  });
});

describe("[faults/O7] Ready is never published too early", () => {
  const plans = "/apis/install.quartermaster.dev/v1alpha1/namespaces/ns/installplans";
  const statusOf = (ready: string, name = "a"): TraceEntry => {
    const conditions = [{ type: "Ready", status: ready, observedGeneration: 2 }];
    return {
      ...entry(`PATCH ${plans}/${name}/status?force=true`),
      publishes: publishedReady(JSON.stringify({ status: { conditions } })),
    };
  };
  const unanswered = ({ status: _status, ...sent }: TraceEntry, fault: TraceEntry["fault"]): TraceEntry => ({
    ...sent,
    fault,
  });
  const created = entry(`POST ${configMaps}`, { status: 201 });
  const elsewhere = entry("POST /api/v1/namespaces/other/configmaps", { status: 201 });
  test.each([
    { name: "created, then Ready", trace: [statusOf("False"), created, statusOf("True")], isBroken: false },
    { name: "Ready, then created", trace: [statusOf("True"), created], isBroken: true },
    {
      name: "Ready of what the operator made itself",
      trace: [statusOf("True", "b"), created],
      isBroken: false,
    },
    { name: "Ready in another namespace", trace: [statusOf("True"), elsewhere], isBroken: false },
    {
      name: "Ready taken back before the creation",
      trace: [statusOf("True"), statusOf("False"), created],
      isBroken: false,
    },
    {
      name: "Ready that never reached the server",
      trace: [{ ...statusOf("True"), status: 409 }, created],
      isBroken: false,
    },
    {
      name: "Ready of a life that was killed after the commit",
      trace: [unanswered(statusOf("True"), "crash-after-commit"), created],
      isBroken: true,
    },
    {
      name: "Ready whose response was held",
      trace: [unanswered(statusOf("True"), "hold-answer"), created],
      isBroken: true,
    },
    {
      name: "Ready, then a refused create",
      trace: [statusOf("True"), entry(`POST ${configMaps}`, { status: 409 })],
      isBroken: false,
    },
  ])("$name: $isBroken", ({ trace, isBroken }) => {
    expect(earlyReady(trace, [`${plans}/a`])?.slice(0, 4)).toBe(isBroken ? "O7: " : undefined);
  });

  test.each([
    { name: "that of the spec", status: { conditions: [], observedGeneration: 2 }, want: true },
    { name: "an earlier one", status: { conditions: [], observedGeneration: 1 }, want: false },
    { name: "none", status: { conditions: [] }, want: false },
    { name: "none, of a kind without conditions", status: undefined, want: true },
  ])("the generation of a status, $name: $want", ({ status, want }) => {
    expect(observesSpec({ metadata: { name: "a", uid: "u", generation: 2 }, status })).toBe(want);
  });
});

describe("[faults/O9] no request is forbidden", () => {
  const get = `GET ${configMaps}/a`;
  test.each([
    { name: "allowed", given: entry(get), isBroken: false },
    { name: "forbidden to us", given: entry(get, { status: 403 }), isBroken: true },
    { name: "forbidden to the author", given: entry(get, { status: 403, user: "author" }), isBroken: false },
    { name: "a fault of the kit", given: entry(get, { status: 403, fault: "answer" }), isBroken: false },
  ])("$name: $isBroken", ({ given, isBroken }) => {
    expect(forbiddenRequest([given])?.slice(0, 4)).toBe(isBroken ? "O9: " : undefined);
  });
});

describe("[faults/O11] errors cost at most a fifth more writes", () => {
  const writes = (count: number): readonly TraceEntry[] =>
    Array.from({ length: count }, () => entry(`PATCH ${configMaps}/a`));
  const refused = entry(`PATCH ${configMaps}/a`, { status: 500 });
  const status = entry(`PATCH ${configMaps}/a/status`);
  test.each([
    { name: "as many", usual: 10, trace: writes(10), isBroken: false },
    { name: "a fifth more", usual: 10, trace: writes(12), isBroken: false },
    { name: "more than that", usual: 10, trace: writes(13), isBroken: true },
    { name: "one more of few", usual: 2, trace: writes(3), isBroken: false },
    { name: "two more of few", usual: 2, trace: writes(4), isBroken: true },
    {
      name: "refused writes and statuses",
      usual: 10,
      trace: [...writes(10), refused, refused, refused, status, status, status],
      isBroken: false,
    },
  ])("$name: $isBroken", ({ usual, trace, isBroken }) => {
    expect(wastedWrites(trace, usual)?.slice(0, 5)).toBe(isBroken ? "O11: " : undefined);
  });

  test("a write whose response a crash lost is counted", () => {
    const lost = { ...entry(`PATCH ${configMaps}/a`), status: 0, fault: "crash-after-commit" as const };
    expect(committedWrites([lost, refused])).toBe(1);
  });
});

describe("[faults/O14] reconciling a converged object again writes nothing", () => {
  const before = entry(`PATCH ${configMaps}/a`);
  test.each([
    { name: "reads", late: [entry(`GET ${configMaps}/a`)], isBroken: false },
    { name: "a dry run", late: [entry(`PATCH ${configMaps}/a?dryRun=All`)], isBroken: false },
    { name: "an update without effect", late: [entry(`PATCH ${configMaps}/a`)], isBroken: true },
    { name: "a refused create", late: [entry(`POST ${configMaps}`, { status: 409 })], isBroken: true },
  ])("$name: $isBroken", ({ late, isBroken }) => {
    expect(writeAtRest([before, ...late], 1)?.slice(0, 5)).toBe(isBroken ? "O14: " : undefined);
  });
});

describe("[faults/O16] no object of a stage exists before the stage ahead of it is done", () => {
  const stages = [[/^patch configmaps a$/, /^patch configmaps b$/], [/^patch configmaps c$/]];
  const write = (name: string, given: Given = {}): TraceEntry => entry(`PATCH ${configMaps}/${name}`, given);
  test.each([
    { name: "in order", trace: [write("b"), write("a"), write("c")], want: undefined },
    {
      name: "one of two missing",
      trace: [write("a"), write("c")],
      want: "O16: patch configmaps c before its stage",
    },
    {
      name: "one of two refused",
      trace: [write("a"), write("b", { status: 500 }), write("c")],
      want: "O16: patch configmaps c before its stage",
    },
    {
      name: "killed after the commit of one",
      trace: [write("a"), { ...write("b", { fault: "crash-after-commit" }), status: 0 }, write("c")],
      want: undefined,
    },
  ])("$name", ({ trace, want }) => {
    expect(earlyWrite(trace, { aliases: {}, stages })).toBe(want);
  });
});

describe("[faults/O17] each write of a plan is its service account's", () => {
  const user = "system:serviceaccount:ns:installer";
  const isOwn = ({ resource }: TraceEntry): boolean => resource === "installplans";
  test.each([
    { name: "as the account", given: entry(`DELETE ${configMaps}/a`, { user }), isBroken: false },
    { name: "as the operator", given: entry(`DELETE ${configMaps}/a`), isBroken: true },
    { name: "as another account", given: entry(`POST ${configMaps}`, { user: "other" }), isBroken: true },
    {
      name: "the operator's own status",
      given: entry("PATCH /apis/install.quartermaster.dev/v1alpha1/namespaces/ns/installplans/a/status"),
      isBroken: false,
    },
    {
      name: "an access review",
      given: entry("POST /apis/authorization.k8s.io/v1/subjectaccessreviews", { status: 201 }),
      isBroken: false,
    },
  ])("$name: $isBroken", ({ given, isBroken }) => {
    expect(writeByOther([given], { user, isOwn })?.slice(0, 5)).toBe(isBroken ? "O17: " : undefined);
  });
});
