import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

import { describe, expect, test } from "vitest";

import { accepts } from "../../src/nodes/passage.ts";
import { listeningLine } from "../../src/nodes/relay-endpoint.ts";
import { eventually } from "../integration/eventually.ts";

interface Relayed extends AsyncDisposable {
  readonly entrance: string;
}

/** A server on loopback behind a relay that runs in a process of its own and listens on a unix socket. */
async function behindRelay(onConnection: (socket: Socket) => void): Promise<Relayed> {
  const directory = mkdtempSync(join(tmpdir(), "qm-relay-"));
  const entrance = join(directory, "in.sock");
  const server = createServer({ allowHalfOpen: true }, onConnection).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as { readonly port: number };
  const script = fileURLToPath(import.meta.resolve("../../src/nodes/socket-relay.ts"));
  const relay = spawn(process.execPath, [script, `unix:${entrance}`, `tcp:127.0.0.1:${port}`], {
    stdio: "ignore",
  });
  await eventually(
    () => (existsSync(entrance) ? true : undefined),
    () => "the relay does not listen yet",
  );
  return {
    entrance,
    [Symbol.asyncDispose]: async () => {
      const ended = new Promise((resolve) => relay.once("exit", resolve));
      relay.kill("SIGKILL");
      await ended;
      server.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

describe("a relay", () => {
  test("passes on the end of what one side says while the other continues speaking", async () => {
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
      if (connections === 1) socket.resetAndDestroy();
      else socket.end("served");
    });
    const broken = connect({ path: relayed.entrance });
    broken.on("error", () => undefined);
    await new Promise((resolve) => broken.once("close", resolve));
    const next = connect({ path: relayed.entrance });
    expect(await text(next)).toBe("served");
  });

  test("says with its pid that it listens, and accepts a connection from then on", async () => {
    const directory = mkdtempSync(join(tmpdir(), "qm-relay-"));
    const entrance = join(directory, "in.sock");
    const script = fileURLToPath(import.meta.resolve("../../src/nodes/socket-relay.ts"));
    const relay = spawn(process.execPath, [script, `unix:${entrance}`, "tcp:127.0.0.1:1"], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const output = await new Promise<string>((resolve) =>
      relay.stdout.once("data", (data) => resolve(String(data))),
    );
    expect(output).toBe(`${listeningLine(relay.pid ?? 0)}\n`);
    expect(await accepts({ path: entrance })).toBe(true);
    const ended = new Promise((resolve) => relay.once("exit", resolve));
    relay.kill("SIGKILL");
    await ended;
    rmSync(directory, { recursive: true, force: true });
  });
});
