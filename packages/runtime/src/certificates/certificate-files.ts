import { readFile } from "node:fs/promises";

import { type Log, silentLog } from "../reconcile/log.ts";
import { pause } from "../system/pause.ts";
import type { System } from "../system/system.ts";
import { type CertificateSource, type CertifiedKey, CurrentCertificate } from "./certificate-source.ts";
import { isPair } from "./read-certificate.ts";

/** Hooks for metrics. */
export interface CertificateFilesObserver {
  certificateRead?(): void;
  certificateReadFailed?(): void;
}

/** Which files. */
export interface CertificateFilesOptions {
  readonly system: System;
  /** PEM, e.g. `tls.crt` of a Secret that cert-manager or OpenShift's service-ca fills. */
  readonly certificatePath: string;
  readonly keyPath: string;
  /** Interval between two reads (default: 10 s). */
  readonly everyMs?: number;
  readonly log?: Log;
  readonly observer?: CertificateFilesObserver;
}

/**
 * A certificate that others renew, in files. They are read again and again rather than watched: kubelet swaps a link to a
 * link, which watches miss. A pair that does not match is one half of a replacement, and the old pair stays in use.
 */
export class CertificateFiles implements CertificateSource {
  readonly #options: CertificateFilesOptions;
  readonly #current = new CurrentCertificate();

  constructor(options: CertificateFilesOptions) {
    this.#options = options;
  }

  current(): CertifiedKey | undefined {
    return this.#current.current();
  }

  onChange(listener: () => void): Disposable {
    return this.#current.onChange(listener);
  }

  /** Reads the files now. False when they hold no usable pair. */
  async refresh(): Promise<boolean> {
    const { certificatePath, keyPath, observer, log = silentLog } = this.#options;
    observer?.certificateRead?.();
    try {
      const [certificatePem, keyPem] = await Promise.all([
        readFile(certificatePath, "utf8"),
        readFile(keyPath, "utf8"),
      ]);
      if (!isPair({ certificatePem, keyPem })) throw new Error("certificate and key do not match");
      this.#current.use({ certificatePem, keyPem });
      return true;
    } catch (error) {
      observer?.certificateReadFailed?.();
      log.warn("certificate files cannot be used", { file: certificatePath, err: error });
      return false;
    }
  }

  /** Follows the files until the signal aborts. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { system, everyMs = 10_000 } = this.#options;
    while (!signal.aborted) {
      await this.refresh();
      await pause(system, everyMs, signal);
    }
  }
}
