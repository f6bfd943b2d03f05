import type { Dispatcher, ProxyAgent } from "undici";
import Pool from "undici/lib/dispatcher/pool.js";

/** Where the server is and how it proves itself. */
export interface Endpoint {
  readonly origin: string;
  readonly serverName?: string | undefined;
  readonly insecure: boolean;
  readonly proxyUrl?: string | undefined;
}

export interface TlsMaterial {
  readonly caPem: string | undefined;
  readonly certPem: string | undefined;
  readonly keyPem: string | undefined;
}

/** Connections of one TLS identity: a bounded pool for calls, and one connection per stream. */
export interface Lanes {
  readonly calls: Lane;
  readonly streams: Lane;
}

/** Calls at the same time beyond this wait for a free connection. */
const callConnections = 64;

const connectTimeoutMs = 10_000;

/** Below the idle limits of common load balancers, so that we close first. */
const keepAliveMs = 30_000;

/** Keeps the pools of an endpoint, and changes to new ones when the TLS material changes. */
export class Connections {
  readonly #endpoint: Endpoint;
  #material: TlsMaterial | undefined;
  #lanes: Lanes | undefined;
  readonly #retired = new Set<Lane>();
  #isFinished = false;

  constructor(endpoint: Endpoint) {
    this.#endpoint = endpoint;
  }

  /** The pools to use with this material. Running requests end on the pools they began on. */
  lanes(material: TlsMaterial): Lanes {
    if (this.#isFinished) return { calls: closedLane, streams: closedLane };
    if (this.#lanes !== undefined && isSame(this.#material, material)) return this.#lanes;
    if (this.#lanes !== undefined) this.#retire(this.#lanes);
    this.#material = material;
    this.#lanes = openLanes(this.#endpoint, material);
    return this.#lanes;
  }

  /** Ends every connection immediately; what runs on them fails, and so does whatever is sent later. */
  async destroy(): Promise<void> {
    this.#isFinished = true;
    if (this.#lanes !== undefined) this.#retire(this.#lanes);
    this.#lanes = undefined;
    await Promise.all([...this.#retired].map(async (dispatcher) => await dispatcher.destroy()));
  }

  /** Lets running requests finish; no one waits for it. */
  #retire({ calls, streams }: Lanes): void {
    for (const dispatcher of [calls, streams]) {
      this.#retired.add(dispatcher);
      dispatcher.close(() => {
        this.#retired.delete(dispatcher);
      });
    }
  }
}

/** No request is sent any more: a new connection would outlive its owner. */
const closedLane: Lane = {
  dispatch: () => {
    throw Object.assign(new Error("the connections have been ended"), { code: "UND_ERR_DESTROYED" });
  },
  close: (callback) => {
    callback();
  },
  destroy: async () => {
    await Promise.resolve();
  },
};

function isSame(one: TlsMaterial | undefined, other: TlsMaterial): boolean {
  if (one === other) return true;
  if (one === undefined) return false;
  return one.caPem === other.caPem && one.certPem === other.certPem && one.keyPem === other.keyPem;
}

function openLanes(endpoint: Endpoint, material: TlsMaterial): Lanes {
  const tls = tlsOptions(endpoint, material);
  return {
    calls: openPool(endpoint, tls, { connections: callConnections }),
    streams: openPool(endpoint, tls, { connections: null }),
  };
}

interface TlsOptions {
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  readonly servername?: string | undefined;
  readonly rejectUnauthorized: boolean;
}

function tlsOptions(endpoint: Endpoint, { caPem, certPem, keyPem }: TlsMaterial): TlsOptions {
  return {
    ca: caPem,
    cert: certPem,
    key: keyPem,
    servername: endpoint.serverName,
    rejectUnauthorized: !endpoint.insecure,
  };
}

interface PoolLimits {
  readonly connections: number | null;
}

/** Deadlines are ours, hence undici's own limits are off; HTTP/2 is off because a stalled list would stall all. */
function openPool({ origin, proxyUrl }: Endpoint, tls: TlsOptions, limits: PoolLimits): Lane {
  const options = {
    ...limits,
    pipelining: 1,
    allowH2: false,
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: keepAliveMs,
    connectTimeout: connectTimeoutMs,
  };
  const connect = { ...tls, timeout: connectTimeoutMs };
  if (proxyUrl === undefined) return new Pool(origin, { ...options, connect });
  return new ProxyLane({ ...options, uri: proxyUrl, requestTls: connect });
}

/** Where requests are given in: as much of a dispatcher as the transport needs. */
export type Lane = Pick<Dispatcher, "dispatch"> & {
  /** Lets running requests finish, then calls back. */
  close(callback: () => void): void;
  destroy(): Promise<void>;
};

/** Leads through a proxy. That is rare, so all of undici is loaded only with the first request. */
class ProxyLane implements Lane {
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
