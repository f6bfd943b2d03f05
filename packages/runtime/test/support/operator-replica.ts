import { writeFile } from "node:fs/promises";

import { eventually, type Identity } from "@quartermaster/testkit";

import type { Log } from "../../src/reconcile/log.ts";
import { run, type RunOptions } from "../../src/run/run.ts";
import { kubeconfig } from "./kubeconfig.ts";

/** An operator in this process. */
export class Replica implements AsyncDisposable {
  readonly #stopping = new AbortController();
  readonly #fields: Record<string, unknown>[] = [];
  readonly ended: Promise<void>;

  constructor(options: RunOptions) {
    const note = (_message: string, fields: object = {}): void => {
      this.#fields.push({ ...fields });
    };
    const log: Log = { isDebug: true, debug: note, info: note, warn: note, error: note, with: () => log };
    this.ended = run({ ...options, port: 0, host: "127.0.0.1", log, signal: this.#stopping.signal });
  }

  async probe(): Promise<{ readonly status: number; readonly text: string }> {
    const port = await eventually(() => this.#fields.find((each) => "metricsPort" in each)?.["metricsPort"]);
    const response = await fetch(`http://127.0.0.1:${String(port)}/readyz`);
    return { status: response.status, text: await response.text() };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    await this.ended;
  }
}

/** A kubeconfig of the account, in a file. */
export async function saveAccess(
  { server, caPem, token }: Pick<Identity, "server" | "caPem" | "token">,
  path: string,
): Promise<string> {
  const caData = Buffer.from(caPem).toString("base64");
  const cluster = { server, "certificate-authority-data": caData };
  await writeFile(path, JSON.stringify(kubeconfig({ cluster, user: { token } })));
  return path;
}
