import { createServer } from "node:http";
import { type AddressInfo, connect as connectTo, type Socket } from "node:net";

/** An HTTP proxy that opens tunnels and notes where to. */
export interface Tunnel extends AsyncDisposable {
  readonly url: string;
  readonly tunnels: readonly string[];
}

/** Starts a proxy on the loopback. */
export async function startTunnel(): Promise<Tunnel> {
  const tunnels: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer();
  server.on("connect", (request, near: Socket) => {
    const target = request.url ?? "";
    tunnels.push(target);
    const { hostname, port } = new URL(`http://${target}`);
    const far = connectTo(Number(port), hostname, () => {
      near.write("HTTP/1.1 200 OK\r\n\r\n");
      near.pipe(far).pipe(near);
    });
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("error", () => {
        near.destroy();
        far.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    tunnels,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}
