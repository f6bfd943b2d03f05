import { connect, createServer } from "node:net";
import type { Server, Socket } from "node:net";

/** Passes bytes between unix sockets and can be paused: what is behind it goes stale without noticing. */
export interface PausableRelay extends AsyncDisposable {
  readonly socketPath: string;
  /** From here on not a byte passes in either direction; connections stay open. */
  pause(): void;
  /** Lets everything held back pass, in order. */
  resume(): void;
  /** Ends all connections; new ones are accepted. */
  cut(): void;
}

/** Listens on `socketPath` and relays each connection to `target`. */
export async function startPausableRelay(socketPath: string, target: string): Promise<PausableRelay> {
  const relay = new Relay(socketPath, target);
  await relay.listen();
  return relay;
}

class Relay implements PausableRelay {
  readonly socketPath: string;
  readonly #target: string;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isPaused = false;

  constructor(socketPath: string, target: string) {
    this.socketPath = socketPath;
    this.#target = target;
    this.#server = createServer({ pauseOnConnect: true }, (near) => this.#join(near));
    this.#server.unref();
  }

  async listen(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#server.once("error", reject).listen(this.socketPath, resolve);
    await promise;
  }

  pause(): void {
    this.#isPaused = true;
    for (const socket of this.#sockets) socket.pause();
  }

  resume(): void {
    this.#isPaused = false;
    for (const socket of this.#sockets) socket.resume();
  }

  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#server.close(() => resolve());
    await promise;
  }

  #join(near: Socket): void {
    const far = connect(this.#target);
    this.#forward(near, far);
    this.#forward(far, near);
  }

  #forward(from: Socket, to: Socket): void {
    this.#sockets.add(from);
    from.unref();
    from.on("data", (chunk) => {
      if (to.write(chunk)) return;
      from.pause();
      to.once("drain", () => this.#isPaused || from.resume());
    });
    from.on("end", () => to.end());
    from.on("error", () => to.destroy()); // either side broken means the connection is: both peers reconnect
    from.on("close", () => {
      this.#sockets.delete(from);
      to.destroy();
    });
    if (this.#isPaused) from.pause();
    else from.resume();
  }
}
