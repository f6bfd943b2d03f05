import { createServer } from "node:net";

import { LocalClusterError } from "../errors.ts";

/** A loopback port that no one listens on right now. Another process may take it before we do: starters retry on PortTaken. */
export async function findFreePort(): Promise<number> {
  return await tryPort(0);
}

/** Throws PortTaken when another process listens on this loopback port already. */
export async function assertPortFree(port: number): Promise<void> {
  try {
    await tryPort(port);
  } catch (error) {
    throw new LocalClusterError(
      "PortTaken",
      `Port ${port} of 127.0.0.1 is taken by another process.`,
      "Stop that process, or choose another port.",
      { cause: error },
    );
  }
}

async function tryPort(port: number): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const server = createServer();
  server.once("error", reject);
  server.listen(port, "127.0.0.1", () => {
    const address = server.address();
    const taken = typeof address === "object" && address !== null ? address.port : port;
    server.close(() => resolve(taken));
  });
  return await promise;
}
