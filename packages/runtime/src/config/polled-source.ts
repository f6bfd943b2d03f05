import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";

import { ConfigError } from "../errors.ts";
import type { System } from "../system/system.ts";
import type { Credential, Source } from "./cluster-config.ts";

/** How to keep a value fresh that is read from somewhere. */
export interface PolledOptions<T> {
  readonly system: System;
  readonly read: () => Promise<T>;
  /** How long a value counts as fresh. */
  readonly maxAgeMs: number;
  readonly isSame: (one: T, other: T) => boolean;
}

/**
 * A value that is read again when it is requested and no longer fresh. While a reading fails the last good value
 * stays, because files are seldom replaced in one stroke; only the very first failure throws.
 */
export class PolledSource<T> implements Source<T> {
  readonly #options: PolledOptions<T>;
  #held: { readonly value: T } | undefined;
  #readAtMs = 0;
  #running: Promise<T> | undefined;

  constructor(options: PolledOptions<T>) {
    this.#options = options;
  }

  current(): T | Promise<T> {
    const { system, maxAgeMs } = this.#options;
    if (this.#held === undefined || system.monotonicMs() - this.#readAtMs >= maxAgeMs) return this.refresh();
    return this.#held.value;
  }

  async refresh(): Promise<T> {
    this.#running ??= this.#readAgain();
    return await this.#running;
  }

  async #readAgain(): Promise<T> {
    const { system, read, isSame } = this.#options;
    try {
      const value = await read();
      if (this.#held === undefined || !isSame(this.#held.value, value)) this.#held = { value };
      return this.#held.value;
    } catch (error) {
      if (this.#held === undefined) throw error;
      return this.#held.value;
    } finally {
      this.#readAtMs = system.monotonicMs();
      this.#running = undefined;
    }
  }
}

/** A file that a configuration points to. */
export interface NamedFile {
  readonly path: string;
  /** Field that names it, for messages. */
  readonly field: string;
}

/** Kubelet rewrites tokens well before they expire; kubectl reads them once a minute too. */
const tokenMaxAgeMs = 60_000;

/** Certificates: "on change" within this time. */
const certificateMaxAgeMs = 10_000;

/** A bearer token in a file, without white space around it. */
export function tokenFileSource(system: System, file: NamedFile): Source<string> {
  const read = async (): Promise<string> => {
    const token = (await readNamed(file)).trim();
    if (token === "") throw unreadable(file, "empty token file");
    return token;
  };
  return new PolledSource({ system, read, maxAgeMs: tokenMaxAgeMs, isSame: isSameText });
}

/** CAs in a file. */
export function caFileSource(system: System, file: NamedFile): Source<string> {
  const read = async (): Promise<string> => await readNamed(file);
  return new PolledSource({ system, read, maxAgeMs: certificateMaxAgeMs, isSame: isSameText });
}

type ReadText = () => Promise<string>;
type Certificate = NonNullable<Credential["certificate"]>;

/** A certificate and its key, each from a file or fixed. A pair that does not match is one half of a replacement: waited out. */
export function certificateSource(
  system: System,
  {
    readCert,
    readKey,
    field,
  }: { readonly readCert: ReadText; readonly readKey: ReadText; readonly field: string },
): Source<Certificate> {
  const read = async (): Promise<Certificate> => {
    const [certPem, keyPem] = await Promise.all([readCert(), readKey()]);
    if (isPair(certPem, keyPem)) return { certPem, keyPem };
    throw new ConfigError("certificate and key do not match", { code: "configInvalid", field });
  };
  const isSamePair = (one: Certificate, other: Certificate): boolean =>
    one.certPem === other.certPem && one.keyPem === other.keyPem;
  return new PolledSource({ system, read, maxAgeMs: certificateMaxAgeMs, isSame: isSamePair });
}

/** Reads a file that a configuration names. */
export async function readNamed(file: NamedFile): Promise<string> {
  try {
    return await readFile(file.path, "utf8");
  } catch (cause) {
    throw unreadable(file, "cannot be read", cause);
  }
}

function isSameText(one: string, other: string): boolean {
  return one === other;
}

function isPair(certPem: string, keyPem: string): boolean {
  try {
    return new X509Certificate(certPem).checkPrivateKey(createPrivateKey(keyPem));
  } catch {
    // Half-written PEM: the crypto library's message would add nothing.
    return false;
  }
}

function unreadable({ path, field }: NamedFile, problem: string, cause?: unknown): ConfigError {
  return new ConfigError(problem, { code: "configUnreadable", file: path, field, cause });
}
