import { readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { createServer } from "node:https";
import { join } from "node:path";

import * as z from "zod";

import { orders, say } from "./report.ts";

/**
 * Stands in for the API server where that would be the limit: a watch gets the recorded objects first, then, on `go`, `count`
 * changes of them in turn, as fast as the connection takes them. Arguments: directory with the recording, count.
 */
const [, , directory = "", count = "0"] = process.argv;
const recorded = z.array(z.record(z.string(), z.unknown()));
const metadataSchema = z.record(z.string(), z.unknown());
const objects = recorded.parse(JSON.parse(readFileSync(join(directory, "objects.json"), "utf8")));
const firstVersion = 5_000_000_000;
let version = firstVersion;
let watcher: ServerResponse | undefined;

/** The text of an event before and after the two places that change. */
const frames = objects.map((object) => {
  const {
    resourceVersion: _version,
    generation: _generation,
    ...rest
  } = metadataSchema.parse(object["metadata"]);
  const metadata = { resourceVersion: "@", generation: "@", ...rest };
  const text = JSON.stringify({ type: "MODIFIED", object: { ...object, metadata } });
  const [head = "", middle = "", tail = ""] = text.replace('"generation":"@"', '"generation":@').split("@");
  return { head, middle, tail };
});

const tls = {
  cert: readFileSync(join(directory, "tls.crt")),
  key: readFileSync(join(directory, "tls.key")),
};
const server = createServer(tls, (_request, response) => {
  response.writeHead(200, { "content-type": "application/json" });
  for (const object of objects) response.write(`${JSON.stringify({ type: "ADDED", object })}\n`);
  const annotations = { "k8s.io/initial-events-end": "true" };
  const metadata = { resourceVersion: String(firstVersion), annotations };
  const bookmark = { apiVersion: "bench.example.org/v1", kind: "Copy", metadata };
  response.write(`${JSON.stringify({ type: "BOOKMARK", object: bookmark })}\n`);
  watcher = response;
});
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("not on a port");
  say("ready", { port: address.port, frameBytes: nextFrame().length });
});

for await (const order of orders()) {
  if (order !== "go") process.exit(0);
  if (watcher !== undefined) await send(watcher);
}

async function send(response: ServerResponse): Promise<void> {
  const batch = 64;
  for (let sent = 0; sent < Number(count); sent += batch) {
    const size = Math.min(batch, Number(count) - sent);
    const text = Array.from({ length: size }, nextFrame).join("");
    const isTaken = response.write(text);
    if (!isTaken) await new Promise((resolve) => response.once("drain", resolve));
  }
}

function nextFrame(): string {
  version += 1;
  const frame = frames[version % frames.length];
  if (frame === undefined) throw new Error("nothing was recorded");
  return `${frame.head}${version}${frame.middle}${version - firstVersion + 1}${frame.tail}\n`;
}
