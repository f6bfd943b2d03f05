import { rmSync } from "node:fs";
import { createServer } from "node:http";
import { connect } from "node:net";
import type { Socket } from "node:net";

import { parsePodTarget } from "./relay-endpoint.ts";

/**
 * Entry point of the way to pods: `node pod-relay.ts <unix socket>`, run in the hub. It serves HTTP's CONNECT to addresses of pods and
 * Services, and nothing else. A unix socket is reached from every network namespace, and by whom its directory lets in.
 */
const [path] = process.argv.slice(2);
if (path === undefined) throw new Error("the way to pods needs a path for its socket");
rmSync(path, { force: true }); // left by one that was killed

createServer((_, response) => response.writeHead(405).end())
  .on("connect", (request, near: Socket, head: Buffer) => {
    const target = parsePodTarget(request.url ?? "");
    if (target === undefined) {
      near.end("HTTP/1.1 403 Forbidden\r\n\r\n");
      return;
    }
    const far = connect({ ...target, allowHalfOpen: true });
    near.on("error", () => far.destroy());
    const refuse = (): void => {
      near.end("HTTP/1.1 502 Bad Gateway\r\n\r\n");
    };
    far.once("error", refuse);
    far.once("connect", () => {
      far.off("error", refuse);
      far.on("error", () => near.destroy());
      near.write("HTTP/1.1 200 OK\r\n\r\n");
      far.write(head);
      far.setNoDelay(true);
      near.on("close", () => far.destroy());
      near.pipe(far);
      far.pipe(near);
    });
  })
  .listen(path);
