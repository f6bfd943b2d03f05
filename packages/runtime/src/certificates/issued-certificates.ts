import type { Client } from "../client/client.ts";
import { classify } from "../errors.ts";
import type { InformerPool } from "../informers/informer-pool.ts";
import type { NamespacedRef } from "../object/kube-object.ts";
import { type Log, silentLog } from "../reconcile/log.ts";
import { finishesWithin } from "../system/finishes-within.ts";
import { pause } from "../system/pause.ts";
import type { System } from "../system/system.ts";
import { type BundleTarget, injectBundle, watchBundles } from "./bundle-target.ts";
import { type CertificateSource, type CertifiedKey, CurrentCertificate } from "./certificate-source.ts";
import { issueCertificate } from "./issue-certificate.ts";
import { backdateMs, keepCaSet } from "./keep-ca-set.ts";
import {
  type CaSet,
  type Ca,
  bundleOf,
  nextRotationMs,
  renewalMs,
  type RotationTimes,
  signerOf,
} from "./rotation.ts";

export interface IssuedCertificatesOptions {
  readonly client: Client;
  readonly system: System;
  /** The Secret that all replicas share; made when it does not exist. */
  readonly secret: NamespacedRef;
  /** Names by which the API server calls us, e.g. `webhook.ns.svc`. */
  readonly dnsNames?: readonly string[];
  /** IPv4 addresses by which it calls us. */
  readonly ipAddresses?: readonly string[];
  /** Who must trust us. */
  readonly targets?: readonly BundleTarget[];
  /** Watches the targets, so that an edited bundle is restored immediately; within the hour unless given. */
  readonly informers?: InformerPool;
  /** Default: CAs 1 year, serving certificates 30 days, propagation 5 min, retirement 30 days. */
  readonly times?: Partial<RotationTimes>;
  /** Stem of names in certificates, and field manager (default: `quartermaster`). */
  readonly name?: string;
  readonly log?: Log;
}

const dayMs = 24 * 3_600_000;
const defaultTimes: RotationTimes = {
  caMs: 365 * dayMs,
  servingMs: 30 * dayMs,
  propagationMs: 5 * 60_000,
  retirementMs: 30 * dayMs,
};

/** At least this often everything is looked at again. */
const longestRestMs = 3_600_000;
const retryMs = 5_000;

interface Certificate extends CertifiedKey {
  readonly signer: string;
  readonly renewMs: number;
  readonly expiresMs: number;
}

/**
 * Certificates of our own making: one CA for all replicas in a Secret, a serving certificate of its own for each
 * replica, both renewed in time, and the API server configured to trust it before anybody serves with it.
 */
export class IssuedCertificates implements CertificateSource {
  readonly #options: IssuedCertificatesOptions;
  readonly #times: RotationTimes;
  readonly #log: Log;
  readonly #name: string;
  readonly #current = new CurrentCertificate();
  readonly #first = Promise.withResolvers<undefined>();
  #certificate: Certificate | undefined;
  #wake = new AbortController();

  constructor(options: IssuedCertificatesOptions) {
    this.#options = options;
    this.#times = { ...defaultTimes, ...options.times };
    this.#log = options.log ?? silentLog;
    this.#name = options.name ?? "quartermaster";
  }

  current(): CertifiedKey | undefined {
    return this.#current.current();
  }

  onChange(listener: () => void): Disposable {
    return this.#current.onChange(listener);
  }

  /** Resolves when the first certificate is there; `run` must be in progress. Rejects after `timeoutMs` (default: 60 s). */
  async ready({ timeoutMs = 60_000 }: { readonly timeoutMs?: number } = {}): Promise<void> {
    const isThere = await finishesWithin(this.#first.promise, this.#options.system, timeoutMs);
    if (!isThere) throw new DOMException(`no certificate within ${timeoutMs} ms`, "TimeoutError");
  }

  /** Reads again immediately, because the Secret or a target changed. */
  refresh(): void {
    this.#wake.abort();
  }

  /** Keeps certificates fresh until the signal aborts. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    await using stack = new AsyncDisposableStack();
    stack.use(this.#watchTargets());
    while (!signal.aborted) {
      this.#wake = new AbortController();
      const restMs = await this.#tryPass(signal);
      await pause(this.#options.system, restMs, AbortSignal.any([signal, this.#wake.signal]));
    }
  }

  #watchTargets(): AsyncDisposable | undefined {
    const { informers, targets = [] } = this.#options;
    if (informers === undefined) return undefined;
    const onChange = (target: BundleTarget): void => {
      this.#log.debug("a target's trusted CAs changed", { target: target.name });
      this.refresh();
    };
    return watchBundles({ informers, targets, onChange });
  }

  async #tryPass(signal: AbortSignal): Promise<number> {
    try {
      return await this.#pass(signal);
    } catch (error) {
      if (!signal.aborted)
        this.#log.warn("certificates could not be renewed", { code: classify(error), err: error });
      return Math.min(retryMs, this.#times.propagationMs / 4);
    }
  }

  /** Trust first, use later. Without any certificate we serve with one that is not trusted yet rather than not at all. */
  async #pass(signal: AbortSignal): Promise<number> {
    const { client, system, secret } = this.#options;
    const keeping = { client, system, secret, times: this.#times, name: this.#name };
    const cas = await keepCaSet(keeping, signal);
    if (this.#certificate === undefined) await this.#issueIfDue(cas);
    await this.#inject(cas, signal);
    await this.#issueIfDue(cas);
    return this.#restMs(cas);
  }

  async #inject(cas: CaSet, signal: AbortSignal): Promise<void> {
    const { client, targets = [] } = this.#options;
    const bundle = bundleOf(cas);
    for (const target of targets) {
      const isWritten = await injectBundle({ client, fieldManager: this.#name, signal }, target, bundle);
      if (isWritten) this.#log.info("trusted CAs are announced", { target: target.name });
    }
  }

  async #issueIfDue(cas: CaSet): Promise<void> {
    const nowMs = this.#options.system.wallMs();
    const signer = signerOf(cas, this.#times, nowMs);
    const certificate = this.#certificate;
    if (
      certificate !== undefined &&
      certificate.signer === signer.certificatePem &&
      nowMs < certificate.renewMs
    )
      return;
    this.#certificate = await this.#issue(signer, nowMs);
    this.#current.use({ certificatePem: this.#certificate.certificatePem, keyPem: this.#certificate.keyPem });
    this.#log.info("serving certificate is issued", {
      expires: new Date(this.#certificate.expiresMs).toISOString(),
    });
    this.#first.resolve(undefined);
  }

  async #issue(signer: Ca, nowMs: number): Promise<Certificate> {
    const { system, dnsNames = [], ipAddresses = [] } = this.#options;
    const expiresMs = Math.min(nowMs + this.#times.servingMs, signer.expiresMs);
    const pair = await issueCertificate(signer, {
      subject: { commonName: this.#name },
      usages: ["server"],
      serial: system.uuid().replaceAll("-", ""),
      validity: { notBeforeMs: nowMs - backdateMs, notAfterMs: expiresMs },
      dnsNames,
      ipAddresses,
    });
    const renewMs = renewalMs(nowMs, expiresMs, system.random());
    return { ...pair, signer: signer.certificatePem, renewMs, expiresMs };
  }

  #restMs(cas: CaSet): number {
    const nowMs = this.#options.system.wallMs();
    const dueMs = Math.min(nextRotationMs(cas, this.#times, nowMs), this.#certificate?.renewMs ?? nowMs);
    const longestMs = Math.min(longestRestMs, this.#times.retirementMs / 3);
    return Math.min(Math.max(dueMs - nowMs, 100), longestMs);
  }
}
