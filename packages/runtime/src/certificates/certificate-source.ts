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
