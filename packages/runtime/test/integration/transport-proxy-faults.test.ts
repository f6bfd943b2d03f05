import {
  type Fault,
  htmlPage,
  joinSharedCluster,
  makeNamespace,
  type RequestMatch,
  serverError,
  startFaultProxy,
  tooManyRequests,
} from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import type { Client } from "../../src/client/client.ts";
import { ApiError } from "../../src/errors.ts";
import type { KubeObject } from "../../src/object/kube-object.ts";
import { connect } from "../support/connect.ts";
import { configMaps } from "../support/kinds.ts";

const ref = (namespace: string): { readonly name: string; readonly namespace: string } => ({
  name: "struck",
  namespace,
});

async function read(client: Client, namespace: string): Promise<KubeObject> {
  return await client.get(configMaps, ref(namespace));
}

async function create(client: Client, namespace: string): Promise<KubeObject> {
  const object = { apiVersion: "v1", kind: "ConfigMap", metadata: ref(namespace), data: { text: "x" } };
  return await client.create(configMaps, object);
}

async function outcomeOf(call: Promise<KubeObject>): Promise<string> {
  try {
    return (await call).metadata.name;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return `${error.class}${error.mayHaveActed ? ", may have acted" : ""}`;
  }
}

interface Case {
  readonly name: string;
  readonly fault: Fault;
  readonly times: number;
  readonly call: (client: Client, namespace: string) => Promise<KubeObject>;
  readonly want: { readonly outcome: string; readonly requests: number; readonly isThere: boolean };
}

const cutOff: Fault = { kind: "cut-answer", afterBytes: 20 };

const cases: readonly Case[] = [
  {
    name: "a read that gets 429 with a delay of a second is repeated",
    fault: tooManyRequests(1),
    times: 1,
    call: read,
    want: { outcome: "struck", requests: 2, isThere: true },
  },
  {
    name: "a write that is queried to comes back too: the server did not act",
    fault: tooManyRequests(1),
    times: 1,
    call: create,
    want: { outcome: "struck", requests: 2, isThere: true },
  },
  {
    name: "a read is repeated after a 500",
    fault: serverError(500),
    times: 3,
    call: read,
    want: { outcome: "struck", requests: 4, isThere: true },
  },
  {
    name: "a read gives up before the tenth 500",
    fault: serverError(500),
    times: 10,
    call: read,
    want: { outcome: "transient, may have acted", requests: 5, isThere: true },
  },
  {
    name: "a write is not repeated after a 500",
    fault: serverError(500),
    times: 10,
    call: create,
    want: { outcome: "transient, may have acted", requests: 1, isThere: false },
  },
  {
    name: "a read is repeated when its response was cut off",
    fault: cutOff,
    times: 1,
    call: read,
    want: { outcome: "struck", requests: 2, isThere: true },
  },
  {
    name: "a write whose answer was cut off is not repeated: it was done",
    fault: cutOff,
    times: 1,
    call: create,
    want: { outcome: "transient, may have acted", requests: 1, isThere: true },
  },
  {
    name: "a read is repeated after a page of HTML",
    fault: htmlPage(502),
    times: 1,
    call: read,
    want: { outcome: "struck", requests: 2, isThere: true },
  },
  {
    name: "a write is not repeated after a page of HTML: no one knows who sent it",
    fault: htmlPage(502),
    times: 1,
    call: create,
    want: { outcome: "transient, may have acted", requests: 1, isThere: false },
  },
];

describe("[runtime/RT-13] between us and the real API server", () => {
  test.each(cases)("$name", async ({ fault, times, call, want }) => {
    using cluster = joinSharedCluster();
    await using namespace = await makeNamespace(cluster.api, "struck");
    await using proxy = await startFaultProxy({ upstream: cluster.admin });
    await using direct = connect(cluster.admin);
    await using struck = connect({ ...cluster.admin, ...proxy.access });
    if (call === read) await create(direct.client, namespace.name);
    const concerns: RequestMatch = ({ resource }) => resource === "configmaps";
    proxy.inject(concerns, fault, times);
    expect({
      outcome: await outcomeOf(call(struck.client, namespace.name)),
      requests: proxy.trace.filter(concerns).length,
      isThere: (await direct.client.find(configMaps, ref(namespace.name))) !== undefined,
    }).toEqual(want);
  });
});
