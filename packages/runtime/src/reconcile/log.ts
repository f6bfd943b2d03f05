/** Facts of a log line; names as in the API, lowerCamel. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Where log lines go: a constant message, facts in fields. */
export interface Log {
  /** Whether lines of level debug are written: what only they need is not made otherwise. */
  readonly isDebug: boolean;
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** The same log with these fields on every line. */
  with(fields: LogFields): Log;
}

/** A log that no one reads. */
export const silentLog: Log = {
  isDebug: false,
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  with: () => silentLog,
};

/** The same log with these fields on every line. They are made for the first line: most reconciles write none. */
export class LazyLog implements Log {
  readonly #base: Log;
  readonly #fields: () => LogFields;
  #log: Log | undefined;

  constructor(base: Log, fields: () => LogFields) {
    this.#base = base;
    this.#fields = fields;
  }

  get isDebug(): boolean {
    return this.#base.isDebug;
  }

  debug(message: string, fields?: LogFields): void {
    if (this.#base.isDebug) this.#made().debug(message, fields);
  }

  info(message: string, fields?: LogFields): void {
    this.#made().info(message, fields);
  }

  warn(message: string, fields?: LogFields): void {
    this.#made().warn(message, fields);
  }

  error(message: string, fields?: LogFields): void {
    this.#made().error(message, fields);
  }

  with(fields: LogFields): Log {
    return this.#made().with(fields);
  }

  #made(): Log {
    this.#log ??= this.#base.with(this.#fields());
    return this.#log;
  }
}
