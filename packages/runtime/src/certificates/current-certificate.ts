import type { CertificateSource, CertifiedKey } from "./certificate-source.ts";

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
