import { ignoredFields, refusedFields, type SearchKind } from "@quartermaster/api";
import { describe, expect, test } from "vitest";

import {
  fieldsIgnored,
  ignoredFieldsCondition,
  ignoredFieldsEvents,
} from "../../../src/ignored-fields/ignored-fields-condition.ts";

const pool = { component: "nodes", replicas: 1, roles: ["data"] };

interface Case {
  readonly name: string;
  readonly kind?: SearchKind;
  readonly spec: object;
  readonly want: readonly string[];
}

const cases: readonly Case[] = [
  { name: "nothing", spec: { general: { serviceName: "logs" }, nodePools: [pool] }, want: [] },
  {
    name: "a field in a part without effect",
    spec: { bootstrap: { jvm: "-Xmx1g" } },
    want: ["spec.bootstrap"],
  },
  { name: "an empty part", spec: { bootstrap: {}, security: { config: { updateJob: {} } } }, want: [] },
  { name: "what happens anyway", spec: { confMgmt: { VerUpdate: false, autoScaler: false } }, want: [] },
  { name: "what does not", spec: { confMgmt: { VerUpdate: true } }, want: ["spec.confMgmt.VerUpdate"] },
  { name: "a spelling of the vendor", spec: { general: { vendor: "os" } }, want: [] },
  {
    name: "a field of the second pool",
    spec: { nodePools: [pool, { ...pool, persistence: { emptyDir: {} }, diskSize: "1Gi" }] },
    want: ["spec.nodePools[1].diskSize"],
  },
  {
    name: "a part that is off",
    spec: { dashboards: { enable: false, pluginsList: ["a"], tls: { caSecret: { name: "ca" } } } },
    want: [],
  },
  {
    name: "a part that no one switched on",
    spec: { dashboards: { basePath: "/d" } },
    want: ["spec.dashboards"],
  },
  { name: "a part with defaults alone", spec: { dashboards: { replicas: 1 } }, want: [] },
  {
    name: "a layer of TLS that cannot be off alone",
    spec: { security: { tls: { transport: { enabled: false } } } },
    want: ["spec.security.tls.transport.enabled"],
  },
  {
    name: "the author's certificate and how it would be issued",
    spec: { security: { tls: { http: { secret: { name: "own" }, customFQDN: "a.example" } } } },
    want: ["spec.security.tls.http.customFQDN"],
  },
  {
    name: "a Secret that is not used",
    spec: { security: { tls: { http: { generate: true, secret: { name: "own" } } } } },
    want: ["spec.security.tls.http.secret.name"],
  },
  {
    name: "a setting of the security plugin at Elasticsearch",
    kind: "ElasticsearchCluster",
    spec: { security: { tls: { transport: { nodesDn: ["CN=a"] } } } },
    want: ["spec.security.tls.transport.nodesDn"],
  },
  {
    name: "an empty volume where the operator has one",
    spec: { general: { additionalVolumes: [{ name: "t", path: "/tmp", emptyDir: {} }] } },
    want: ["spec.general.additionalVolumes[0].path"],
  },
  {
    name: "an empty reference",
    spec: { security: { config: { updateJob: { resources: {} } } }, general: { vendor: "" } },
    want: [],
  },
];

describe("fields without effect", () => {
  test.for(cases)("$name", ({ kind = "OpenSearchCluster", spec, want }) => {
    expect(ignoredFields(kind, spec).map(({ path }) => path)).toEqual(want);
  });
});

const ignored = [
  { path: "spec.a", why: "It is old." },
  { path: "spec.b", why: "It is new." },
  { path: "spec.c", why: "It is old." },
];

describe("the condition FieldsIgnored", () => {
  test("names every path, and each reason once", () => {
    expect(ignoredFieldsCondition({ ignored, status: {} })).toEqual([
      {
        type: fieldsIgnored,
        status: "True",
        reason: "WithoutEffect",
        message: "spec.a, spec.c: It is old. spec.b: It is new.",
      },
    ]);
  });

  test("is absent where every field has an effect", () => {
    expect(ignoredFieldsCondition({ ignored: [], status: {} })).toEqual([]);
  });

  test("names at most a hundred fields, and how many there are besides", () => {
    const many = Array.from({ length: 130 }, (_, at) => ({ path: `spec.f${String(at)}`, why: "No." }));
    expect(ignoredFieldsCondition({ ignored: many, status: {} })[0]?.message).toMatch(
      /spec\.f99: No\. And 30 more\.$/,
    );
  });

  test("comes with one event for each list", () => {
    const [condition] = ignoredFieldsCondition({ ignored, status: {} });
    const told = { conditions: [{ ...condition, lastTransitionTime: "" }] } as never;
    expect(ignoredFieldsEvents({ ignored, status: {} })).toHaveLength(1);
    expect(ignoredFieldsEvents({ ignored, status: told })).toEqual([]);
    expect(ignoredFieldsEvents({ ignored: ignored.slice(1), status: told })).toHaveLength(1);
    expect(ignoredFieldsEvents({ ignored: [], status: told })).toEqual([]);
    expect(ignoredFieldsCondition({ ignored: [], status: told })).toMatchObject([
      { type: fieldsIgnored, status: "False", reason: "AllHaveEffect" },
    ]);
  });
});

test("a refused field is an issue with the alternative", () => {
  const spec = {
    general: { serviceName: "logs", version: "8.17.0", grpc: { enable: true } },
    nodePools: [pool],
  };
  expect(refusedFields("ElasticsearchCluster", spec)).toEqual([
    { path: "spec.general.grpc", why: "Elasticsearch has no gRPC transport: remove it." },
  ]);
  expect(refusedFields("OpenSearchCluster", spec)).toEqual([]);
});
