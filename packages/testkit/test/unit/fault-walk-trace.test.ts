import { describe, expect, test } from "vitest";

import type { TraceEntry } from "../../src/fault-proxy/fault-proxy.ts";
import { preconditionsOf, withoutPreconditions } from "../../src/fault-proxy/preconditions.ts";
import { describeRequest } from "../../src/fault-proxy/seen-request.ts";
import {
  countWrites,
  earlyWrite,
  repeatedWrite,
  unguardedWrite,
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
      const place = method === "DELETE" ? "preconditions" : "metadata";
      expect(JSON.parse(stripped)).toEqual({ ...body, [place]: want });
    }
  });
});

describe("creates and deletes per object equal the undisturbed run", () => {
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

describe("each write of a plan is its service account's", () => {
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
