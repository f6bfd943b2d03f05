import type { ConfigMap } from "./kinds.ts";
import { orders, say, timed } from "./report.ts";
import { readSettings, type Settings } from "./settings.ts";

/** What a contestant of the unary rows can do; each call is one request with its response parsed. */
export interface UnaryContestant {
  get(name: string): Promise<{ readonly metadata?: unknown }>;
  apply(object: ConfigMap): Promise<{ readonly metadata?: unknown }>;
}

const inFlight = 32;

/** Objects that are read and written in turn. */
export const unaryObjects = 64;

/** Does the same requests for every contestant: on `get` or `apply`, `count` of them with 32 in flight. */
export async function serveUnary(
  connect: (settings: Settings) => UnaryContestant | Promise<UnaryContestant>,
): Promise<void> {
  const settings = readSettings();
  const contestant = await connect(settings);
  let serial = 0;
  const once = async (order: string): Promise<void> => {
    serial += 1;
    const name = `unary-${serial % unaryObjects}`;
    const response =
      order === "get"
        ? await contestant.get(name)
        : await contestant.apply(bodyOf(settings.namespace, name, serial));
    if (response.metadata === undefined) throw new Error("not an object");
  };
  say("ready");
  for await (const order of orders()) {
    let left = settings.count;
    const worker = async (): Promise<void> => {
      for (; left > 0;) {
        left -= 1;
        await once(order);
      }
    };
    const lap = await timed(async () => {
      await Promise.all(Array.from({ length: inFlight }, worker));
    });
    say("lap", lap);
  }
}

/** About 1 KB. */
export function bodyOf(namespace: string, name: string, serial: number): ConfigMap {
  const metadata = { name, namespace, labels: { "bench.example.org/part": "unary" } };
  const data = { serial: String(serial), load: "x".repeat(800) };
  return { apiVersion: "v1", kind: "ConfigMap", metadata, data };
}
