import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

/** One request to a search engine; rejects when there was no response. */
export type RequestEngine = (
  path: string,
  question: { readonly method: string; readonly body?: unknown },
) => Promise<{ readonly status: number; readonly body: string }>;

/** What the load is put on, and how hard. */
export interface DocumentLoadOptions {
  readonly request: RequestEngine;
  /** Made if it is not there. */
  readonly index: string;
  /** Settings of the index, e.g. `{ number_of_replicas: 1 }`. */
  readonly settings?: object;
  /** Clients that write and read back, one request after the other (default: 2). */
  readonly clients?: number;
  /** How long a client rests between a read and its next write (default: 0). */
  readonly pauseMs?: number;
  /** For so long a client tries a request again before it counts as failed (default: 60 s). */
  readonly timeoutMs?: number;
}

/** What became of the load. */
export interface DocumentTally {
  /** Documents whose write was acknowledged. */
  readonly written: number;
  /** Reads of documents in between. */
  readonly read: number;
  /** Requests that were sent again. */
  readonly retried: number;
  /** Requests that failed although the client was patient, each with its last answer. */
  readonly failed: readonly string[];
  /** Samples of the health, one a second; and those that were red. */
  readonly samples: number;
  readonly red: number;
  /** Acknowledged documents that were read back missing or changed, at the end. */
  readonly lost: readonly string[];
}

/** A load that continues until it is ended. */
export interface DocumentLoad {
  /** Acknowledged so far. */
  readonly written: number;
  /** Ends it, reads every acknowledged document back and says what became of them. */
  end(): Promise<DocumentTally>;
}

const defaults = { clients: 2, pauseMs: 0, timeoutMs: 60_000, settings: {} };

/**
 * Writes documents and reads them back as an application with retries would, and samples the health each second, until it is ended.
 * The oracle of operations that must not lose a document or a request: whatever was acknowledged must be readable at the end.
 *
 * @example
 * const load = await startDocumentLoad({ ask, index: "orders", settings: { number_of_replicas: 1 } });
 * await rollTheCluster();
 * expect(await load.end()).toMatchObject({ failed: [], lost: [], red: 0 });
 */
export async function startDocumentLoad(options: DocumentLoadOptions): Promise<DocumentLoad> {
  const run = new LoadRun({ ...defaults, ...options });
  await run.prepare();
  run.start();
  return run;
}

class LoadRun implements DocumentLoad {
  readonly #options: Required<DocumentLoadOptions>;
  readonly #written = new Map<string, string>();
  readonly #failed: string[] = [];
  #read = 0;
  #retried = 0;
  #samples = 0;
  #red = 0;
  #isFinished = false;
  #work: Promise<unknown> = Promise.resolve();

  constructor(options: Required<DocumentLoadOptions>) {
    this.#options = options;
  }

  get written(): number {
    return this.#written.size;
  }

  async prepare(): Promise<void> {
    const { index, settings } = this.#options;
    await this.#send(`/${index}`, { method: "PUT", body: { settings } }, [200, 400]);
  }

  start(): void {
    const clients = Array.from({ length: this.#options.clients }, async (_, at) => await this.#client(at));
    this.#work = Promise.all([...clients, this.#watchHealth()]);
  }

  async end(): Promise<DocumentTally> {
    this.#isFinished = true;
    await this.#work;
    const lost = await this.#missing();
    return {
      written: this.#written.size,
      read: this.#read,
      retried: this.#retried,
      failed: this.#failed,
      samples: this.#samples,
      red: this.#red,
      lost,
    };
  }

  /** Writes a document, then reads one that was written before. */
  async #client(at: number): Promise<void> {
    const { index } = this.#options;
    const own: string[] = [];
    for (let number = 0; !this.#isFinished; number += 1) {
      const id = `${String(at)}-${String(number)}`;
      const value = createHash("sha256").update(`${index} ${id}`).digest("hex");
      const made = await this.#send(`/${index}/_doc/${id}`, { method: "PUT", body: { value } }, [200, 201]);
      if (made !== undefined) {
        this.#written.set(id, value);
        own.push(id);
      }
      const known = own[(number * 7) % Math.max(1, own.length)];
      if (known === undefined) continue;
      const found = await this.#send(`/${index}/_doc/${known}`, { method: "GET" }, [200]);
      if (found?.includes(this.#written.get(known) ?? "") === true) this.#read += 1;
      if (this.#options.pauseMs > 0) await sleep(this.#options.pauseMs);
    }
  }

  async #watchHealth(): Promise<void> {
    while (!this.#isFinished) {
      const body = await this.#once("/_cluster/health?timeout=1s", { method: "GET" }, [200]);
      if (body !== undefined) this.#samples += 1;
      if (body?.includes('"status":"red"') === true) this.#red += 1;
      await sleep(1_000);
    }
  }

  async #missing(): Promise<readonly string[]> {
    const { index } = this.#options;
    const lost: string[] = [];
    const ids = [...this.#written.keys()];
    for (let from = 0; from < ids.length; from += 200) {
      const some = ids.slice(from, from + 200);
      const body = await this.#send(`/${index}/_mget`, { method: "POST", body: { ids: some } }, [200]);
      lost.push(...some.filter((id) => body?.includes(this.#written.get(id) ?? id) !== true));
    }
    return lost;
  }

  /** As a patient application: the same request again until it is answered well, or counted as failed. */
  async #send(
    path: string,
    question: { readonly method: string; readonly body?: unknown },
    accepts: readonly number[],
  ): Promise<string | undefined> {
    const endMs = performance.now() + this.#options.timeoutMs;
    for (;;) {
      const body = await this.#once(path, question, accepts);
      if (body !== undefined) return body;
      if (performance.now() > endMs) {
        this.#failed.push(`${question.method} ${path}`);
        return undefined;
      }
      this.#retried += 1;
      await sleep(100);
    }
  }

  async #once(
    path: string,
    question: { readonly method: string; readonly body?: unknown },
    accepts: readonly number[],
  ): Promise<string | undefined> {
    try {
      const { status, body } = await this.#options.request(path, question);
      return accepts.includes(status) ? body : undefined;
    } catch {
      // No response is a response too: the request may have been carried out, and is sent again.
      return undefined;
    }
  }
}
