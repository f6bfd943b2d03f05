import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { createInterface } from "node:readline";

import { z } from "zod";

import { type ApiAccess, ApiClient } from "../api/api-client.ts";
import { realSystem } from "../system/system.ts";

/** Objects of a collection as the API server last told them. */
export interface FollowedList<T> {
  /** Undefined before the first list has come. */
  readonly items: readonly T[] | undefined;
}

/** What is followed. */
export interface FollowOptions<T> {
  readonly access: ApiAccess;
  /** Of the collection, e.g. `/api/v1/persistentvolumes`. */
  readonly path: string;
  /** The parts of an object that are kept. */
  readonly schema: z.ZodType<T>;
  /** Called after each change. */
  readonly onChange: () => void;
}

/** Follows a collection for as long as the process lives: one list, then a watch; both again when the watch ends. */
export function followList<T>(options: FollowOptions<T>): FollowedList<T> {
  const { access, path, schema, onChange } = options;
  const api = new ApiClient(access);
  let items: Map<string, T> | undefined;

  async function followOnce(): Promise<void> {
    const { status, body } = await api.send({ path });
    if (status !== 200)
      throw new Error(`the API server answered ${status} to ${path}: ${body.slice(0, 300)}`);
    const list = listSchema.parse(JSON.parse(body));
    const known = new Map(list.items.map((item) => [uidOf(item), schema.parse(item)]));
    items = known;
    onChange();
    const version = list.metadata.resourceVersion;
    const response = await open(`${path}?watch=true&resourceVersion=${version}&timeoutSeconds=300`, access);
    for await (const line of createInterface({ input: response })) {
      const { type, object } = eventSchema.parse(JSON.parse(line));
      if (type === "ERROR") return;
      if (type === "DELETED") known.delete(uidOf(object));
      else known.set(uidOf(object), schema.parse(object));
      onChange();
    }
  }

  async function follow(): Promise<never> {
    for (;;) {
      try {
        await followOnce();
      } catch (error) {
        // The API server is away or being restarted: its log is ours, and we try again for as long as the cluster lives.
        process.stderr.write(`${String(error)}\n`);
        await realSystem.sleep(500);
      }
    }
  }

  void follow();
  return {
    get items() {
      return items === undefined ? undefined : [...items.values()];
    },
  };
}

async function open(path: string, { server, caPem, token }: ApiAccess): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const watch = request(new URL(path, server), { ca: caPem, headers }, resolve);
  watch.once("error", reject);
  watch.end();
  return await promise;
}

function uidOf(object: unknown): string {
  return identified.parse(object).metadata.uid;
}

const identified = z.object({ metadata: z.object({ uid: z.string() }) });
const listSchema = z.object({
  metadata: z.object({ resourceVersion: z.string() }),
  items: z.array(z.unknown()),
});
const eventSchema = z.object({ type: z.string(), object: z.unknown() });
