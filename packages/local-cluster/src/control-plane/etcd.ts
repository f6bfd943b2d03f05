import { request } from "node:http";

import { z } from "zod";

import type { ComponentHandle, ComponentOptions } from "./component.ts";
import { Component } from "./component.ts";

/** The cluster's etcd, with the one thing tests do to it besides killing it. */
export interface EtcdHandle extends ComponentHandle {
  readonly socketPath: string;
  /** Forgets all history up to now: a watch from an older resourceVersion gets 410 Gone. */
  compact(): Promise<void>;
}

const rangeAnswer = z.object({ header: z.object({ revision: z.string() }) });

/** etcd as a process that can also be compacted. */
export class Etcd extends Component implements EtcdHandle {
  readonly socketPath: string;

  constructor(options: ComponentOptions, socketPath: string) {
    super(options);
    this.socketPath = socketPath;
  }

  async compact(): Promise<void> {
    const range = await callEtcd(this.socketPath, "/v3/kv/range", { body: { key: "AA==" } });
    const { header } = rangeAnswer.parse(JSON.parse(range));
    await callEtcd(this.socketPath, "/v3/kv/compaction", {
      body: { revision: header.revision, physical: true },
    });
  }
}

/** True once etcd has a leader and takes writes. */
export async function isEtcdHealthy(socketPath: string, signal: AbortSignal): Promise<boolean> {
  try {
    return (await callEtcd(socketPath, "/health", { signal })).includes('"health":"true"');
  } catch {
    // Not listening yet; the caller asks again and watches the process itself.
    return false;
  }
}

async function callEtcd(
  socketPath: string,
  path: string,
  { body, signal }: { readonly body?: unknown; readonly signal?: AbortSignal } = {},
): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const options = {
    socketPath,
    path,
    method: body === undefined ? "GET" : "POST",
    ...(signal === undefined ? {} : { signal }),
  };
  const sent = request(options, (response) => {
    let text = "";
    response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
    response.on("end", () =>
      response.statusCode === 200
        ? resolve(text)
        : reject(new Error(`etcd answered ${response.statusCode} to ${path}: ${text}`)),
    );
  });
  sent.on("error", reject).end(body === undefined ? undefined : JSON.stringify(body));
  return await promise;
}
