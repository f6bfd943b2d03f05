import { dirname, resolve } from "node:path";

import { ConfigError } from "../errors.ts";
import type { System } from "../system/system.ts";
import type { Credential } from "./cluster-config.ts";
import { type ExecOptions, ExecSource } from "./exec-source.ts";
import { certificateSource, readNamed, tokenFileSource } from "./file-sources.ts";
import type { UserEntry } from "./kubeconfig.ts";
import type { Located } from "./merge-kubeconfigs.ts";
import { decodeData } from "./pem-data.ts";
import { combineSources, fixedSource, type Source } from "./source.ts";

/** How a user proves itself, from whatever its entry names. */
export function userCredentials(
  system: System,
  user: Located<UserEntry>,
  where: Pick<ExecOptions, "cluster" | "authorities">,
): Source<Credential> {
  refuseAuthProvider(user);
  const { exec, username = "", password = "" } = user.value;
  if (exec !== undefined && exec !== null) return new ExecSource({ system, exec, user, ...where });
  const basic = username === "" ? {} : { basic: { username, password } };
  return combineSources(tokenOf(system, user), certificateOf(system, user), (token, certificate) => ({
    ...basic,
    ...(token === undefined ? {} : { token }),
    ...(certificate === undefined ? {} : { certificate }),
  }));
}

function refuseAuthProvider({ value, file, field }: Located<UserEntry>): void {
  const provider = value["auth-provider"];
  if (provider === undefined || provider === null) return;
  throw new ConfigError("auth-provider was removed from Kubernetes in 1.26; use an exec plugin", {
    code: "configUnsupported",
    file,
    field: `${field}.auth-provider`,
  });
}

/** A token file wins over a token, as in client-go: it is the one that is renewed. */
function tokenOf(system: System, { value, file, field }: Located<UserEntry>): Source<string | undefined> {
  const { token = "", tokenFile = "" } = value;
  if (tokenFile !== "") {
    return tokenFileSource(system, { path: resolve(dirname(file), tokenFile), field: `${field}.tokenFile` });
  }
  return fixedSource(token === "" ? undefined : token);
}

function certificateOf(system: System, user: Located<UserEntry>): Source<Credential["certificate"]> {
  const readCert = pemReader(user, "client-certificate");
  const readKey = pemReader(user, "client-key");
  if (readCert === undefined && readKey === undefined) return fixedSource(undefined);
  if (readCert !== undefined && readKey !== undefined) {
    return certificateSource(system, {
      readCert,
      readKey,
      field: `${user.file}: ${user.field}.client-certificate`,
    });
  }
  const name = readCert === undefined ? "client-certificate" : "client-key";
  throw new ConfigError("a certificate needs its key and a key its certificate", {
    code: "configInvalid",
    file: user.file,
    field: `${user.field}.${name}`,
  });
}

/** Inline data wins over a file. */
function pemReader(
  user: Located<UserEntry>,
  name: "client-certificate" | "client-key",
): (() => Promise<string>) | undefined {
  const { [name]: path = "", [`${name}-data` as const]: data = "" } = user.value;
  if (data !== "") {
    const pem = decodeData(user, `${name}-data`, data);
    return async () => await Promise.resolve(pem);
  }
  if (path === "") return undefined;
  const file = { path: resolve(dirname(user.file), path), field: `${user.field}.${name}` };
  return async () => await readNamed(file);
}
