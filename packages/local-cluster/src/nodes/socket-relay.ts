import { rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import type { Socket } from "node:net";

import { listeningLine, parseRelayEndpoint } from "./relay-endpoint.ts";

/**
 * Entry point of a relay: `node socket-relay.ts <listen> <connect>`, each `tcp:host:port` or `unix:/path`. A unix socket
 * can be reached from every network namespace, so two relays that meet at one join two namespaces for one port, and no more.
 */
const [listen, target] = process.argv.slice(2).map(parseRelayEndpoint);
if (listen === undefined || target === undefined)
  throw new Error("a relay needs an endpoint to listen on and one to connect to");
if ("path" in listen) rmSync(listen.path, { force: true }); // left by a relay that was killed

createServer({ allowHalfOpen: true }, (near) => {
  const far = connect({ ...target, allowHalfOpen: true });
  forward(near, far);
  forward(far, near);
}).listen(listen, () => {
  // The launcher may be in another network namespace, where the port cannot be tried.
  process.stdout.write(`${listeningLine(process.pid)}\n`);
});

/** Passes on bytes and the end of them; the other direction may continue. A broken side breaks the other. */
function forward(from: Socket, to: Socket): void {
  from.on("error", () => to.destroy());
  from.on("close", (hadError) => hadError && to.destroy());
  from.setNoDelay(true);
  from.pipe(to);
}
