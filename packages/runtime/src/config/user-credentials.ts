import { dirname, resolve } from "node:path";

import { ConfigError } from "../errors.ts";
import type { System } from "../system/system.ts";
import {
  combineSources,
  type Credential,
  fixedSource,
  type Impersonation,
  type Source,
} from "./cluster-config.ts";
import { type ExecOptions, ExecSource } from "./exec-source.ts";
import { certificateSource, readNamed, tokenFileSource } from "./polled-source.ts";
import type { Located, UserEntry } from "./read-kubeconfig.ts";

/** How a user proves itself, from whatever its entry names. */
export function userCredentials(
  system: System,
  user: Located<UserEntry>,
  where: Pick<ExecOptions, "cluster" | "cas">,
): Source<Credential> {
  refuseAuthProvider(user);
  const { exec, username = "", password = "" } = user.value;
  if (exec !== undefined && exec !== null) return new ExecSource({ system, exec, user, ...where });
  const basic = username === "" ? {} : { basic: { username, password } };
  return combineSources(tokenOf(system, user), certificateOf(system, user), (token, certificate) => ({
    ...basic,
    token,
    certificate,
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

/** As whom the user speaks; undefined when as itself. Groups, uid or extra without a user are refused, as by the server. */
export function impersonationOf({ value, file, field }: Located<UserEntry>): Impersonation | undefined {
  const { as: user = "" } = value;
  const rest = restOf(value);
  if (user !== "") return { user, ...rest };
  if (Object.keys(rest).length === 0) return undefined;
  throw new ConfigError("impersonation needs a user", { code: "configInvalid", file, field: `${field}.as` });
}

function restOf(entry: UserEntry): Omit<Impersonation, "user"> {
  const { "as-groups": groups, "as-uid": uid = "", "as-user-extra": extra } = entry;
  return {
    ...(groups.length === 0 ? {} : { groups }),
    ...(uid === "" ? {} : { uid }),
    ...(extra === undefined || extra === null ? {} : { extra }),
  };
}

/** Text of a `…-data` field. Throws ConfigError when it is not base64. */
export function decodeData({ file, field }: Located<unknown>, name: string, data: string): string {
  const bare = data.replaceAll(/\s/g, "");
  if (/^[A-Za-z\d+/]+={0,2}$/.test(bare) && bare.length % 4 !== 1)
    return Buffer.from(bare, "base64").toString("utf8");
  throw new ConfigError("not base64", { code: "configInvalid", file, field: `${field}.${name}` });
}
