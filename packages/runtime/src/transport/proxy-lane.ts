import type { Dispatcher, ProxyAgent } from "undici";

/** Where requests are given in: as much of a dispatcher as the transport needs. */
export type Lane = Pick<Dispatcher, "dispatch"> & {
  /** Lets running requests finish, then calls back. */
  close(callback: () => void): void;
  destroy(): Promise<void>;
};

/** Leads through a proxy. That is rare, so all of undici is loaded only with the first request. */
export class ProxyLane implements Lane {
  readonly #options: ProxyAgent.Options;
  #agent: Promise<Dispatcher> | undefined;

  constructor(options: ProxyAgent.Options) {
    this.#options = options;
  }

  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    void this.#dispatch(options, handler);
    return true;
  }

  close(callback: () => void): void {
    void this.#close(callback);
  }

  async destroy(): Promise<void> {
    const agent = await this.#agent;
    await agent?.destroy();
  }

  async #dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): Promise<void> {
    this.#agent ??= openAgent(this.#options);
    const agent = await this.#agent;
    agent.dispatch(options, handler);
  }

  async #close(callback: () => void): Promise<void> {
    const agent = await this.#agent;
    await agent?.close();
    callback();
  }
}

/** By undici's front door: its agent for proxies needs methods that only this one gives to its classes. */
async function openAgent(options: ProxyAgent.Options): Promise<Dispatcher> {
  const undici = await import("undici");
  return new undici.ProxyAgent(options);
}
