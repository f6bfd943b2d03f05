import { CertificateFiles, type CertificateFilesObserver } from "../certificates/certificate-files.ts";
import type { CertificateSource, CertifiedKey } from "../certificates/certificate-source.ts";
import { IssuedCertificates } from "../certificates/issued-certificates.ts";
import { validityOf } from "../certificates/read-certificate.ts";
import { type CaSource, RelayedCa } from "../certificates/relayed-ca.ts";
import type { Client } from "../client/client.ts";
import type { InformerHandle, InformerPool, InformerRequest } from "../informers/informer-pool.ts";
import type { OffPart } from "../manager/off-parts.ts";
import { nameOfKind } from "../object/kind.ts";
import type { NamespacedRef } from "../object/kube-object.ts";
import type { Log } from "../reconcile/log.ts";
import type { System } from "../system/system.ts";
import { aborted } from "../system/termination.ts";
import type { Checks } from "../telemetry/telemetry-server.ts";
import type { WebhookObserver } from "../webhook/request-handler.ts";
import type { WebhookRoute } from "../webhook/respond-to-review.ts";
import type { WebhookAddress } from "../webhook/webhook-configuration.ts";
import { WebhookServer } from "../webhook/webhook-server.ts";
import type { DomainWebhooks, WebhookServing, WebhookStores } from "./domain.ts";

/** How reviews come to us, and by which certificate they trust us. */
export interface WebhookOptions {
  /** Where the API server reaches the webhook: both roles need to know. */
  readonly address: WebhookAddress;
  /** Namespace of the Secret with our CAs and of the ConfigMap with their certificates. */
  readonly namespace: string;
  /** Name of both (default: the operator's name and `-webhook-ca`). */
  readonly ca?: string | undefined;
  /** Name of the ClusterRole that webhook configurations belong to and are deleted with (default: they belong to `namespace`). */
  readonly clusterRole?: string | undefined;
  /** Port to listen on; 0 takes any free port (default: 9443). */
  readonly port?: number | undefined;
  /** Address of that port (default: all). */
  readonly host?: string | undefined;
  /** A certificate that another program renews, instead of our own. */
  readonly files?: { readonly certificatePath: string; readonly keyPath: string } | undefined;
  /** Who signs the certificate in `files` (default: the process that fills the ConfigMap of CAs). */
  readonly caSource?: CaSource | undefined;
  /** How long a CA that has left that source stays trusted (default: 1 h). */
  readonly overlapMs?: number | undefined;
  /**
   * After SIGTERM a replica is not ready any more but continues to serve for so long: the API server learns late that an endpoint
   * no longer exists (default: 8,000 behind a Service, otherwise 0).
   */
  readonly leaveMs?: number | undefined;
  /** PEM. When given, only callers with a certificate of these CAs are heard. */
  readonly callerCaPem?: string | undefined;
}

export interface WebhookRoleOptions {
  readonly name: string;
  readonly options: WebhookOptions;
  readonly webhooks: readonly DomainWebhooks[];
  readonly client: Client;
  readonly informers: InformerPool;
  readonly system: System;
  readonly log: Log;
  readonly observer: WebhookObserver & CertificateFilesObserver;
}

/** The Secret of the CAs, and the ConfigMap of their certificates. */
export function caRef(
  name: string,
  { namespace, ca }: Pick<WebhookOptions, "namespace" | "ca">,
): NamespacedRef {
  return { namespace, name: ca ?? `${name}-webhook-ca` };
}

/** Serves the API server: certificate, stores, server. Listens as soon as there is a certificate, and is ready with its stores. */
export class WebhookRole implements AsyncDisposable {
  /** Paths that are served. */
  readonly paths: readonly string[];
  readonly #stopping = new AbortController();
  readonly #stores: InformerHandle[] = [];
  readonly #kinds = new Map<InformerHandle, string>();
  readonly #certificates: CertificateSource & { run(signal: AbortSignal): Promise<void> };
  readonly #relay: RelayedCa | undefined;
  readonly #server: WebhookServer;
  readonly #log: Log;
  readonly #system: System;
  readonly #leaveMs: number;
  #isLeaving = false;
  #renewing: Promise<unknown> | undefined;

  constructor(parts: WebhookRoleOptions) {
    const { options, system, log, observer } = parts;
    const { port, host, callerCaPem } = options;
    this.#certificates = certificatesOf(parts);
    this.#relay = relayOf(parts);
    const routes = this.#routesOf(parts);
    this.paths = routes.map(({ path }) => path);
    this.#server = new WebhookServer({
      routes,
      certificates: this.#certificates,
      system,
      log,
      observer,
      port,
      host,
      callerCaPem,
    });
    this.#log = log;
    this.#system = system;
    this.#leaveMs = options.leaveMs ?? ("service" in options.address ? behindServiceMs : 0);
  }

  /** For the readiness probe. */
  readonly checks: Checks = {
    certificate: () => this.#certificates.current() !== undefined,
    webhook: () => this.#server.isListening && !this.#isLeaving,
    "webhook-stores": () => this.#stores.every(({ store }) => store.isSynced),
  };

  /** Why it is not ready, where that is for want of permissions. */
  get off(): readonly OffPart[] {
    const refused = this.#stores.filter(({ isForbidden }) => isForbidden);
    if (refused.length === 0) return [];
    const kinds = [...new Set(refused.map((handle) => this.#kinds.get(handle) ?? ""))].toSorted().join(", ");
    const message = `not ready, because its account may not list and watch ${kinds}; grant the permissions`;
    return [{ name: "webhook", message }];
  }

  /** Serves until it is disposed. Rejects when the port is taken or the address is not ours. */
  async serve(): Promise<void> {
    const { signal } = this.#stopping;
    this.#renewing ??= Promise.all([this.#certificates.run(signal), this.#relay?.run(signal)]);
    await firstCertificate(this.#certificates, signal);
    if (signal.aborted) return;
    const port = await this.#server.listen();
    this.#log.info("webhook started", { webhookPort: port, webhooks: this.paths });
    await aborted(signal);
  }

  /** Lets the API server turn to other replicas before this one stops. */
  async leave(): Promise<void> {
    this.#isLeaving = true;
    this.#server.endConnections();
    if (this.#server.isListening) await this.#system.sleep(this.#leaveMs);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    await this.#server.stop();
    await this.#renewing;
    for (const handle of this.#stores) await handle[Symbol.asyncDispose]();
  }

  #routesOf({ webhooks, informers }: WebhookRoleOptions): readonly WebhookRoute[] {
    const stores: WebhookStores = {
      store: (request) => this.#keep(request, informers.acquire(request)).store,
      onChange: (request, notify) => {
        this.#keep(request, informers.acquire(request)).addHandler(notify);
      },
      watch: (request) => informers.acquire(request),
    };
    const serving: WebhookServing = {
      certificateExpiresMs: () => expiryOf(this.#certificates.current()),
      silentMs: () => Math.max(0, ...this.#stores.map(({ silentMs }) => silentMs)),
    };
    return webhooks.flatMap((each) => each.routes(stores, serving));
  }

  #keep<H extends InformerHandle>({ kind }: Pick<InformerRequest, "kind">, handle: H): H {
    this.#stores.push(handle);
    this.#kinds.set(handle, nameOfKind(kind));
    return handle;
  }
}

/** How long endpoints of a Service are used after their pod was stopped, with time to spare. */
const behindServiceMs = 8_000;

function expiryOf(pair: CertifiedKey | undefined): number | undefined {
  return pair === undefined ? undefined : validityOf(pair.certificatePem).notAfterMs;
}

function certificatesOf({
  name,
  options,
  client,
  informers,
  system,
  log,
  observer,
}: WebhookRoleOptions): IssuedCertificates | CertificateFiles {
  if (options.files !== undefined) return new CertificateFiles({ ...options.files, system, log, observer });
  const secret = caRef(name, options);
  return new IssuedCertificates({
    client,
    system,
    log,
    name,
    secret,
    informers,
    targets: [{ kind: "configMap", ...secret }],
    // The configurations follow the ConfigMap under the lease: a day bridges any time without a leader.
    times: { propagationMs: 24 * 3_600_000 },
    ...namesOf(options.address),
  });
}

function relayOf({ name, options, client, informers, system, log }: WebhookRoleOptions) {
  const { caSource: source, overlapMs } = options;
  if (source === undefined) return undefined;
  return new RelayedCa({
    source,
    target: caRef(name, options),
    client,
    informers,
    system,
    log,
    fieldManager: name,
    overlapMs,
  });
}

/** The names by which the API server calls. */
function namesOf(address: WebhookAddress): { readonly dnsNames: string[]; readonly ipAddresses: string[] } {
  if ("service" in address) {
    const { name, namespace } = address.service;
    return { dnsNames: [`${name}.${namespace}.svc`], ipAddresses: [] };
  }
  const host = new URL(address.url).hostname.replaceAll(/^\[|\]$/g, "");
  const isAddress = /^[\d.]+$/.test(host) || host.includes(":");
  return isAddress ? { dnsNames: [], ipAddresses: [host] } : { dnsNames: [host], ipAddresses: [] };
}

async function firstCertificate(source: CertificateSource, signal: AbortSignal): Promise<void> {
  if (source.current() !== undefined) return;
  const { promise, resolve } = Promise.withResolvers<undefined>();
  using stack = new DisposableStack();
  stack.use(
    source.onChange(() => {
      resolve(undefined);
    }),
  );
  await Promise.race([promise, aborted(signal)]);
}
