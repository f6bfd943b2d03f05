import { defineKind, type Kind } from "../object/kind.ts";
import type { KubeObject, ObjectMeta, ObjectRef } from "../object/kube-object.ts";
import { isPair, validityOf } from "./issue-certificate.ts";
import type { Authorities, Authority } from "./rotation.ts";

/** A Secret, as far as authorities go. */
export interface AuthoritySecret extends KubeObject {
  readonly type?: string;
  readonly data?: Readonly<Record<string, string>>;
}

/** Secrets of the core group. */
export const authoritySecrets: Kind<AuthoritySecret> = defineKind<AuthoritySecret>({
  group: "",
  version: "v1",
  kind: "Secret",
  plural: "secrets",
  scope: "Namespaced",
});

/** Certificates hold from this long before they are made, for those whose clocks are behind. */
export const backdateMs = 5 * 60_000;

/** The authorities in a Secret; undefined when it holds none that can be used. */
export function readAuthorities({ data = {} }: AuthoritySecret): Authorities | undefined {
  const newest = authorityAt(data, "tls");
  const previous = authorityAt(data, "previous");
  if (newest === undefined) return undefined;
  return previous === undefined ? { newest } : { newest, previous };
}

/** A Secret that holds the authorities; `existing` is replaced under its resourceVersion. */
export function secretOf(
  ref: Required<ObjectRef>,
  authorities: Authorities,
  existing?: AuthoritySecret,
): AuthoritySecret {
  const { newest, previous } = authorities;
  const data = {
    ...entries("tls", newest),
    ...(previous === undefined ? {} : entries("previous", previous)),
  };
  const type = existing?.type ?? "kubernetes.io/tls";
  const metadata: ObjectMeta = existing?.metadata ?? ref;
  const labels = { ...metadata.labels, [mark]: "true" };
  return { apiVersion: "v1", kind: "Secret", metadata: { ...metadata, labels }, type, data };
}

/** Whether the Secret is ours to write: it bears our mark, or somebody made it empty for us. */
export function isOurs({ metadata, data = {} }: AuthoritySecret): boolean {
  return metadata.labels?.[mark] === "true" || Object.values(data).every((value) => value === "");
}

const mark = "quartermaster.dev/certificate-authority";

function authorityAt(data: Readonly<Record<string, string>>, stem: string): Authority | undefined {
  const pair = { certificatePem: textAt(data, `${stem}.crt`), keyPem: textAt(data, `${stem}.key`) };
  if (!isPair(pair)) return undefined;
  const { notBeforeMs, notAfterMs } = validityOf(pair.certificatePem);
  return { ...pair, announcedMs: notBeforeMs + backdateMs, expiresMs: notAfterMs };
}

function textAt(data: Readonly<Record<string, string>>, key: string): string {
  return Buffer.from(data[key] ?? "", "base64").toString("utf8");
}

function entries(stem: string, { certificatePem, keyPem }: Authority): Readonly<Record<string, string>> {
  const encode = (text: string): string => Buffer.from(text).toString("base64");
  return { [`${stem}.crt`]: encode(certificatePem), [`${stem}.key`]: encode(keyPem) };
}
