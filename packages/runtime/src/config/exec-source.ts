import { execFile } from "node:child_process";
import { dirname, isAbsolute, resolve } from "node:path";

import * as z from "zod";

import { ConfigError } from "../errors.ts";
import { raceLimit } from "../system/finishes-within.ts";
import type { System } from "../system/system.ts";
import type { Credential, Source } from "./cluster-config.ts";
import type { ClusterEntry, ExecEntry, Located, UserEntry } from "./read-kubeconfig.ts";

export interface ExecOptions {
  readonly system: System;
  readonly exec: ExecEntry;
  readonly user: Located<UserEntry>;
  readonly cluster: ClusterEntry;
  readonly cas: Source<string | undefined>;
}

/** Plugins that query a cloud take seconds; one that takes longer hangs. */
const runLimitMs = 60_000;

const outputLimitBytes = 1024 * 1024;

/** Renewed this long before the end, or in the last fifth of a short life. */
const marginMs = 60_000;

/** A server that refuses whatever we show, or a plugin that fails, must not make us run it for every request. */
const shortestPauseMs = 10_000;

/** While what we hold is still good, a request does not wait longer for something better. */
const timeoutMs = 5_000;

/** Credentials from a plugin: one run at a time, renewed before they expire or when the server refuses them. */
export class ExecSource implements Source<Credential> {
  readonly #options: ExecOptions;
  #issued: IssuedCredential | undefined;
  #renewAtMs = 0;
  #ranAtMs = 0;
  #running: Promise<Credential> | undefined;
  #failure: { readonly error: unknown; readonly atMs: number } | undefined;

  constructor(options: ExecOptions) {
    if (options.exec.interactiveMode === "Always") {
      throw problemOf(options, "interactiveMode", "a plugin that wants a terminal cannot be used");
    }
    this.#options = options;
  }

  current(): Credential | Promise<Credential> {
    if (this.#issued === undefined) return this.refresh();
    const nowMs = this.#options.system.wallMs();
    if (nowMs < this.#renewAtMs) return this.#issued.credential;
    return this.#renewOrKeep(this.#issued);
  }

  async refresh(): Promise<Credential> {
    if (this.#issued !== undefined && this.#isRecent(this.#ranAtMs)) return this.#issued.credential;
    if (this.#failure !== undefined && this.#isRecent(this.#failure.atMs)) throw this.#failure.error;
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
    return await this.#running;
  }

  /** Between margin and end a plugin that fails or hangs does no harm yet. */
  async #renewOrKeep({ credential, expiresAtMs = Infinity }: IssuedCredential): Promise<Credential> {
    const { system } = this.#options;
    const isGood = (): boolean => system.wallMs() < expiresAtMs;
    if (isGood() && this.#running !== undefined) return credential;
    const renewed = this.refresh();
    try {
      return await raceLimit(renewed, { system, limitMs: timeoutMs }, () =>
        isGood() ? credential : renewed,
      );
    } catch (error) {
      if (!isGood()) throw error;
      return credential;
    }
  }

  #isRecent(atMs: number): boolean {
    return this.#options.system.monotonicMs() - atMs < shortestPauseMs;
  }

  async #run(): Promise<Credential> {
    try {
      const credential = await this.#issue();
      this.#failure = undefined;
      return credential;
    } catch (error) {
      this.#failure = { error, atMs: this.#options.system.monotonicMs() };
      throw error;
    }
  }

  async #issue(): Promise<Credential> {
    const { system, exec } = this.#options;
    const issued = readExecCredential(await runPlugin(this.#options), exec.apiVersion);
    if (issued === undefined)
      throw problemOf(this.#options, "command", `gave no ExecCredential of ${exec.apiVersion}`);
    this.#issued = issued;
    this.#ranAtMs = system.monotonicMs();
    this.#renewAtMs = renewalOf(issued, system.wallMs());
    return issued.credential;
  }
}

function renewalOf({ expiresAtMs }: IssuedCredential, nowMs: number): number {
  if (expiresAtMs === undefined) return Infinity;
  return expiresAtMs - Math.min(marginMs, Math.max(0, expiresAtMs - nowMs) / 5);
}

async function runPlugin(options: ExecOptions): Promise<string> {
  const { system, exec, user, cluster: entry, cas } = options;
  const own = Object.fromEntries(exec.env.map(({ name, value }) => [name, value]));
  const env = {
    ...system.env,
    ...own,
    KUBERNETES_EXEC_INFO: execInfo(exec, { entry, caPem: await cas.current() }),
  };
  const { promise, resolve: settle, reject } = Promise.withResolvers<string>();
  const limits = { timeout: runLimitMs, maxBuffer: outputLimitBytes, killSignal: "SIGKILL" } as const;
  const child = execFile(
    commandOf(exec.command, user.file),
    exec.args,
    { env, ...limits },
    (error, stdout) => {
      if (error === null) settle(stdout);
      else reject(problemOf(options, "command", `${failureOf(error)}${hintOf(exec)}`));
    },
  );
  child.stdin?.end();
  return await promise;
}

/** A path with a slash is relative to the file that names it; a bare name is looked up in PATH. */
function commandOf(command: string, file: string): string {
  return isAbsolute(command) || !command.includes("/") ? command : resolve(dirname(file), command);
}

/** Not the error itself: it holds the command line, which may hold a password. */
function failureOf({
  code,
  killed,
}: {
  readonly code?: string | number | null;
  readonly killed?: boolean;
}): string {
  if (killed === true) return "credential plugin took too long";
  return `credential plugin failed (${code ?? "killed"})`;
}

function hintOf({ installHint }: ExecEntry): string {
  return installHint === undefined || installHint === "" ? "" : `: ${installHint.slice(0, 500)}`;
}

function problemOf({ user }: ExecOptions, name: string, problem: string): ConfigError {
  const field = `${user.field}.exec.${name}`;
  return new ConfigError(problem, { code: "credentialPluginFailed", file: user.file, field });
}

const credentialSchema = z.object({
  apiVersion: z.string(),
  kind: z.literal("ExecCredential"),
  status: z.object({
    token: z.string().optional(),
    clientCertificateData: z.string().optional(),
    clientKeyData: z.string().optional(),
    expirationTimestamp: z.string().optional(),
  }),
});

export interface IssuedCredential {
  readonly credential: Credential;
  /** Wall clock; undefined when it does not end. */
  readonly expiresAtMs: number | undefined;
}

/** Reads a plugin's output; undefined when it is not a credential of the version requested. */
function readExecCredential(output: string, apiVersion: string): IssuedCredential | undefined {
  const parsed = credentialSchema.safeParse(jsonOf(output));
  if (!parsed.success || parsed.data.apiVersion !== apiVersion) return undefined;
  const {
    token,
    clientCertificateData: certPem,
    clientKeyData: keyPem,
    expirationTimestamp,
  } = parsed.data.status;
  const hasCertificate = certPem !== undefined && keyPem !== undefined;
  if (token === undefined && !hasCertificate) return undefined;
  const expiresAtMs = expirationTimestamp === undefined ? undefined : Date.parse(expirationTimestamp);
  if (Number.isNaN(expiresAtMs)) return undefined;
  return {
    credential: {
      token,
      ...(hasCertificate ? { certificate: { certPem, keyPem } } : {}),
    },
    expiresAtMs,
  };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Facts about the cluster for a plugin: its entry, and the CAs as PEM wherever the entry has them from. */
export interface ClusterFacts {
  readonly entry: ClusterEntry;
  readonly caPem: string | undefined;
}

/** Text of KUBERNETES_EXEC_INFO. The cluster's facts are in it only where the configuration allows. */
function execInfo({ apiVersion, provideClusterInfo }: ExecEntry, facts: ClusterFacts): string {
  const spec = {
    interactive: false,
    ...(provideClusterInfo === true ? { cluster: clusterInfo(facts) } : {}),
  };
  return JSON.stringify({ apiVersion, kind: "ExecCredential", spec });
}

function clusterInfo({ entry, caPem }: ClusterFacts): Readonly<Record<string, unknown>> {
  const config = entry.extensions.find(({ name }) => name === "client.authentication.k8s.io/exec")?.extension;
  return {
    server: entry.server,
    "tls-server-name": entry["tls-server-name"],
    "insecure-skip-tls-verify": entry["insecure-skip-tls-verify"],
    "certificate-authority-data": caPem === undefined ? undefined : Buffer.from(caPem).toString("base64"),
    "proxy-url": entry["proxy-url"],
    config,
  };
}
