/** A certificate, with the chain below it where there is one, and its key; both PEM. */
export interface CertifiedKey {
  readonly certificatePem: string;
  readonly keyPem: string;
}

/** Where a server gets its certificate from, for as long as it runs. */
export interface CertificateSource {
  /** Undefined until the first one is there. */
  current(): CertifiedKey | undefined;
  /** Calls back whenever `current` changed; disposing ends that. */
  onChange(listener: () => void): Disposable;
}

/** Holds the certificate in use and notifies those who serve with it. */
export class CurrentCertificate implements CertificateSource {
  readonly #listeners = new Set<() => void>();
  #pair: CertifiedKey | undefined;

  current(): CertifiedKey | undefined {
    return this.#pair;
  }

  onChange(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return {
      [Symbol.dispose]: () => {
        this.#listeners.delete(listener);
      },
    };
  }

  /** Takes a certificate into use; the same one again changes nothing. */
  use(pair: CertifiedKey): void {
    if (this.#pair?.certificatePem === pair.certificatePem && this.#pair.keyPem === pair.keyPem) return;
    this.#pair = pair;
    for (const listener of this.#listeners) listener();
  }
}
