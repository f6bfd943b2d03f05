import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A TCP forwarder on the loopback that can do to connections what bad networks do. TLS passes through untouched. */
export interface CuttingProxy extends AsyncDisposable {
  /** The server's address, by way of the proxy. */
  readonly url: string;
  /** Connections made so far. */
  readonly connections: number;
  /** Breaks every connection off. */
  cut(): void;
  /** Connections that exist go silent for ever and stay open; new ones work. */
  silence(): void;
  /** While true, new connections are broken off immediately. */
  refuse(isRefusing: boolean): void;
  /** Every new connection breaks off after so many bytes from the server; undefined for never. */
  limit(bytesOf: (() => number) | undefined): void;
}

interface Link {
  readonly near: Socket;
  readonly far: Socket;
  isSilent: boolean;
}

/** Starts a proxy in front of a server. */
export async function startCuttingProxy(server: string): Promise<CuttingProxy> {
  const target = new URL(server);
  const links = new Set<Link>();
  let connections = 0;
  let isRefusing = false;
  let bytesOf: (() => number) | undefined;
  const listener = createServer((near) => {
    if (isRefusing) {
      near.destroy();
      return;
    }
    connections += 1;
    const far = connect(Number(target.port), target.hostname);
    const link = { near, far, isSilent: false };
    links.add(link);
    forward(link, bytesOf?.() ?? Number.POSITIVE_INFINITY, () => links.delete(link));
  });
  await new Promise<void>((resolve) => {
    listener.listen(0, "127.0.0.1", resolve);
  });
  const cut = (): void => {
    for (const { near, far } of links) {
      near.destroy();
      far.destroy();
    }
  };
  return {
    url: `https://127.0.0.1:${(listener.address() as AddressInfo).port}`,
    get connections() {
      return connections;
    },
    cut,
    silence: () => {
      for (const link of links) link.isSilent = true;
    },
    refuse: (value) => {
      isRefusing = value;
    },
    limit: (value) => {
      bytesOf = value;
    },
    [Symbol.asyncDispose]: async () => {
      cut();
      await new Promise((resolve) => {
        listener.close(resolve);
      });
    },
  };
}

function forward(link: Link, limitBytes: number, onEnd: () => void): void {
  const { near, far } = link;
  let leftBytes = limitBytes;
  const end = (): void => {
    if (link.isSilent) return;
    near.destroy();
    far.destroy();
    onEnd();
  };
  near.on("data", (chunk) => {
    if (!link.isSilent) far.write(chunk);
  });
  far.on("data", (chunk) => {
    if (link.isSilent) return;
    near.write(chunk.length > leftBytes ? chunk.subarray(0, leftBytes) : chunk);
    leftBytes -= chunk.length;
    if (leftBytes <= 0) end();
  });
  for (const socket of [near, far]) socket.on("error", end).on("close", end);
}
