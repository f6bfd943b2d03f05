import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import type { Server, Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

import { describe, expect, test } from "vitest";

import { accepts } from "../../src/nodes/relays.ts";

interface Relayed extends AsyncDisposable {
  readonly entrance: string;
}

/** A server behind a relay that runs in a process of its own. */
async function behindRelay(onConnection: (socket: Socket) => void): Promise<Relayed> {
  const folder = mkdtempSync(join(tmpdir(), "qm-relay-"));
  const entrance = join(folder, "in.sock");
  const server = await listen(onConnection, join(folder, "out.sock"));
  const script = fileURLToPath(import.meta.resolve("../../src/nodes/socket-relay.ts"));
  const relay = spawn(process.execPath, [script, `unix:${entrance}`, `unix:${join(folder, "out.sock")}`], {
    stdio: "inherit",
  });
  while (!(await accepts({ path: entrance }))) await new Promise((resolve) => setImmediate(resolve));
  return {
    entrance,
    [Symbol.asyncDispose]: async () => {
      relay.kill("SIGKILL");
      server.close();
      await new Promise((resolve) => relay.once("close", resolve));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function listen(onConnection: (socket: Socket) => void, path: string): Promise<Server> {
  const server = createServer({ allowHalfOpen: true }, onConnection).listen(path);
  await new Promise((resolve) => server.once("listening", resolve));
  return server;
}

describe("a relay", () => {
  test("passes on the end of what one side says while the other goes on speaking", async () => {
    await using relayed = await behindRelay((socket) => {
      void text(socket).then((heard) => socket.end(`heard ${heard.length}`));
    });
    const client = connect({ path: relayed.entrance, allowHalfOpen: true });
    client.end("x".repeat(3_000_000));
    expect(await text(client)).toBe("heard 3000000");
  });

  test("ends a connection whose other side broke, and serves the next one", async () => {
    let connections = 0;
    await using relayed = await behindRelay((socket) => {
      connections += 1;
      if (connections <= 2) socket.resetAndDestroy();
      else socket.end("served");
    });
    const broken = connect({ path: relayed.entrance });
    broken.on("error", () => undefined);
    await new Promise((resolve) => broken.once("close", resolve));
    const next = connect({ path: relayed.entrance });
    expect(await text(next)).toBe("served");
  });
});
