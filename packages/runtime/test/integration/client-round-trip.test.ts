import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { Kind } from "../../src/object/kind.ts";
import type { KubeObject } from "../../src/object/kube-object.ts";
import { rawNumber } from "../../src/object/raw-number.ts";
import { parseJson, stringifyJson } from "../../src/transport/parse-json.ts";
import { type LocalCluster, startTestCluster } from "../support/cluster.ts";
import { connect, type Connected } from "../support/connect.ts";
import { configMaps, customResourceDefinitions, secrets, type Thing } from "../support/kinds.ts";
import { makeTestKind, type TestKind } from "../support/test-kind.ts";

let cluster: LocalCluster;
let connected: Connected;

beforeAll(async () => {
  cluster = await startTestCluster();
  connected = connect(cluster.admin);
});

afterAll(async () => {
  await connected[Symbol.asyncDispose]();
  await cluster.stop();
});

const namespace = "default";
const mine = { fieldManager: "test", force: true } as const;

/** An object from text, as it would come off the wire. */
function fromText<T extends KubeObject>(text: string, _kind: Kind<T>): T {
  return parseJson(text) as T;
}

const nested = (levels: number): string => '{"a":'.repeat(levels) + "1" + "}".repeat(levels);

describe("[runtime/RT-06] strange keys survive", () => {
  const keys = ["__proto__", "constructor", "toString", "hasOwnProperty", "prototype", "valueOf"];
  const data = `{${keys.map((key) => `"${key}":"value of ${key}"`).join(",")}}`;

  test("in the data of a ConfigMap, through create, read, list, apply and replace", async () => {
    const { client } = connected;
    const ref = { name: "keys", namespace };
    const text = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"keys","namespace":"default"},"data":${data}}`;
    await client.create(configMaps, fromText(text, configMaps));
    const read = await client.get(configMaps, ref);
    expect(Object.keys(read.data ?? {}).toSorted()).toEqual(keys.toSorted());
    const applied = await client.apply(configMaps, fromText(text, configMaps), mine);
    expect(stringifyJson(applied.data)).toBe(stringifyJson(read.data));
    const replaced = await client.replace(configMaps, applied);
    expect(stringifyJson(replaced.data)).toBe(stringifyJson(read.data));
    const listed = await Array.fromAsync(
      client.list(configMaps, { namespace, fieldSelector: "metadata.name=keys" }),
    );
    expect(stringifyJson(listed[0]?.data)).toBe(stringifyJson(read.data));
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  test("in the data of a Secret", async () => {
    const text = `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"keys","namespace":"default"},"stringData":${data}}`;
    const made = await connected.client.create(secrets, fromText(text, secrets));
    expect(Object.keys(made.data ?? {}).toSorted()).toEqual(keys.toSorted());
  });

  test("as labels and annotations, where the server takes them", async () => {
    const accepted = keys.filter((key) => key !== "__proto__");
    const ownerLabels = Object.fromEntries(accepted.map((key) => [key, "x"]));
    const metadata = { name: "labels", namespace, labels: ownerLabels, annotations: ownerLabels };
    const made = await connected.client.apply(
      configMaps,
      { apiVersion: "v1", kind: "ConfigMap", metadata },
      mine,
    );
    expect(made.metadata.labels).toEqual(ownerLabels);
    expect(made.metadata.annotations).toEqual(ownerLabels);
  });

  test("in custom fields and in status, through apply", async () => {
    const { client } = connected;
    const { kind, apiVersion } = await makeTestKind(connected);
    const field = `{"__proto__":{"polluted":true,"list":[{"__proto__":1}]},"constructor":{"prototype":{"x":1}}}`;
    const text = (part: string): string =>
      `{"apiVersion":"${apiVersion}","kind":"Thing","metadata":{"name":"a","namespace":"default"},"${part}":${field}}`;
    await client.apply(kind, fromText(text("spec"), kind), mine);
    await client.apply(kind, fromText(text("status"), kind), { ...mine, subresource: "status" });
    const read = await client.get(kind, { name: "a", namespace });
    expect(sorted(read.spec)).toBe(sorted(parseJson(field)));
    expect(sorted(read.status)).toBe(sorted(parseJson(field)));
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  test("an object nested 9,000 deep can be written and read", async () => {
    const { kind, apiVersion } = await makeTestKind(connected);
    const text = `{"apiVersion":"${apiVersion}","kind":"Thing","metadata":{"name":"deep","namespace":"default"},"spec":${nested(8_990)}}`;
    await connected.client.create(kind, fromText(text, kind), { fieldValidation: "Ignore" });
    const read = await connected.client.get(kind, { name: "deep", namespace });
    expect(stringifyJson(read.spec) === nested(8_990)).toBe(true);
  });

  /** The server sorts keys; so do we to compare. */
  function sorted(value: unknown): string {
    return stringifyJson(value)
      .split(/[{},[\]]/)
      .toSorted()
      .join("|");
  }
});

describe("[runtime/RT-33] numbers beyond 2^53 are the same digit for digit", () => {
  const int64 = { type: "integer", format: "int64" };
  let numbers: TestKind;

  beforeAll(async () => {
    const free = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
    numbers = await makeTestKind(connected, { type: "object", properties: { typed: int64, free } });
  });

  const digits = [
    "9223372036854775807",
    "-9223372036854775808",
    "9007199254740993",
    "1000000000000000000",
    "1000000000000000001",
  ];
  test.each(digits)("%s after create, get, apply, dry run, merge patch and replace", async (number) => {
    const { client } = connected;
    const { kind, apiVersion } = numbers;
    const name = `n${number.replace("-", "m")}`;
    const ref = { name, namespace };
    const spec = `{"free":{"a":${number},"list":[${number}]},"typed":${number}}`;
    const text = `{"apiVersion":"${apiVersion}","kind":"Thing","metadata":{"name":"${name}","namespace":"default"},"spec":${spec}}`;
    const specOf = (thing: Thing): string => stringifyJson(thing.spec);
    await client.create(kind, fromText(text, kind));
    const read = await client.get(kind, ref);
    expect(specOf(read)).toBe(spec);
    const applied = { apiVersion, kind: "Thing", metadata: ref, ...(read.spec && { spec: read.spec }) };
    expect(specOf(await client.apply(kind, applied, { ...mine, dryRun: true }))).toBe(spec);
    expect(specOf(await client.apply(kind, applied, mine))).toBe(spec);
    const patch = { kind: "merge", body: { spec: { free: { b: rawNumber(number) } } } } as const;
    await client.patch(kind, ref, { patch });
    const patched = await client.get(kind, ref);
    expect(specOf(patched)).toContain(`"b":${number}`);
    expect(specOf(await client.replace(kind, patched))).toBe(specOf(patched));
    expect(await stored(`things.${kind.group}`, name)).toContain(`"typed": ${number}`);
  });

  test("in the text of a ConfigMap", async () => {
    const config = '{"limit":9223372036854775807}';
    const ref = { name: "json", namespace };
    const object = { apiVersion: "v1", kind: "ConfigMap", metadata: ref, data: { config } };
    await connected.client.apply(configMaps, object, mine);
    expect((await connected.client.get(configMaps, ref)).data).toEqual({ config });
  });

  test("as maximum in a CRD, as far as the server itself keeps it", async () => {
    const { client } = connected;
    const { kind } = await makeTestKind(connected, {
      type: "object",
      properties: { n: { ...int64, maximum: rawNumber("9223372036854775807") } },
    });
    const ref = { name: `things.${kind.group}` };
    // The server holds limits as doubles; what it says of them is what must not change any more.
    const output = await maximumBy(ref.name);
    const read = await client.get(customResourceDefinitions, ref);
    expect(stringifyJson(read)).toContain(`"maximum":${output}`);
    const again = await client.replace(customResourceDefinitions, read);
    expect(stringifyJson(again)).toContain(`"maximum":${output}`);
    expect(await maximumBy(ref.name)).toBe(output);
  });

  /** What kubectl, which shares no code with us, reads. */
  async function stored(plural: string, name: string): Promise<string> {
    return (await cluster.kubectl(["get", plural, name, "-n", namespace, "-o", "json"])).stdout;
  }

  async function maximumBy(name: string): Promise<string> {
    const { stdout } = await cluster.kubectl([
      "get",
      "--raw",
      `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}`,
    ]);
    return /"maximum":([^,}]+)/.exec(stdout)?.[1] ?? "nothing";
  }
});
