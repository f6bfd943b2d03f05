import { createServer, type Socket } from "node:net";

/** A port of this machine that leads to a Service of the cluster. */
export async function openDoor(
  dial: () => Promise<Socket>,
): Promise<AsyncDisposable & { readonly port: number }> {
  const open = new Set<Socket>();
  const lead = async (near: Socket): Promise<void> => {
    try {
      const far = await dial();
      open.add(far);
      far.on("error", () => near.destroy());
      near.pipe(far).pipe(near);
    } catch {
      // The client sees a closed connection, and tries again.
      near.destroy();
    }
  };
  const server = createServer((near) => {
    open.add(near);
    near.on("error", () => near.destroy());
    void lead(near);
  });
  const { promise, resolve } = Promise.withResolvers<number>();
  server.listen(0, "127.0.0.1", () => {
    resolve(portOf(server.address()));
  });
  return {
    port: await promise,
    [Symbol.asyncDispose]: async () => {
      for (const socket of open) socket.destroy();
      const closed = Promise.withResolvers<undefined>();
      server.close(() => {
        closed.resolve(undefined);
      });
      await closed.promise;
    },
  };
}

function portOf(address: ReturnType<ReturnType<typeof createServer>["address"]>): number {
  return typeof address === "object" && address !== null ? address.port : 0;
}
