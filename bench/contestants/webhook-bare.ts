import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import { join } from "node:path";

import { say } from "./report.ts";
import { readSettings } from "./settings.ts";

// Answers every review with the same words, in a process that does nothing else: what the machine itself allows.
const { directory } = readSettings();
const tls = { cert: readFileSync(join(directory, "tls.crt")), key: readFileSync(join(directory, "tls.key")) };
const server = createServer(tls, (request, response) => {
  request.resume().once("end", () => {
    response.end('{"response":{"allowed":true}}');
  });
});
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("not on a port");
  say("ready", { port: address.port });
});
