import { durationMs as durationMsOf } from "@quartermaster/runtime";

import { nameIn, present } from "./pod-settings.ts";
import type { ClusterObject } from "./read-cluster.ts";
import type { SecuritySettings, TlsSettings } from "./search-cluster.ts";

type SecuritySpec = ClusterObject["spec"]["security"];
type Tls = NonNullable<NonNullable<SecuritySpec>["tls"]>;
type Layer = NonNullable<Tls["http"] | Tls["transport"]>;

const dayMs = 86_400_000;
const yearMs = 365 * dayMs;

/** How the cluster is secured. Left out, everything is on and comes from us. */
export function readSecurity(spec: SecuritySpec): SecuritySettings {
  const { tls, config } = spec ?? {};
  const isEnabled = !(tls?.http?.enabled === false && tls.transport?.enabled === false);
  return {
    isEnabled,
    // The security plugin cannot run without TLS between nodes.
    transport: { ...readLayer(tls?.transport), isEnabled },
    http: { ...readLayer(tls?.http), extraNames: listOf(tls?.http?.customFQDN) },
    ...readContent(config),
    ...readSubjects(tls),
  };
}

function readContent(
  config: NonNullable<SecuritySpec>["config"],
): Pick<SecuritySettings, "adminCredentialsSecret" | "securityConfigSecret" | "adminSecret"> {
  return {
    adminCredentialsSecret: nameIn(config?.adminCredentialsSecret),
    securityConfigSecret: nameIn(config?.securityConfigSecret),
    adminSecret: nameIn(config?.operatorClientCert) ?? nameIn(config?.adminSecret),
  };
}

function readSubjects(tls: Tls | undefined): Pick<SecuritySettings, "adminDns" | "nodeDns"> {
  const { http, transport } = tls ?? {};
  return {
    adminDns: [...(transport?.adminDn ?? []), ...(http?.adminDn ?? [])],
    nodeDns: transport?.nodesDn ?? [],
  };
}

function listOf(text: string | undefined): readonly string[] {
  const given = present(text);
  return given === undefined ? [] : [given];
}

const unstated: Partial<Layer> = {};

function readLayer(layer: Partial<Layer> = unstated): TlsSettings {
  const secret = nameIn(layer.secret);
  const durationMs = validityMs(layer.duration);
  return {
    isEnabled: layer.enabled ?? true,
    isGenerated: layer.generate ?? secret === undefined,
    secret,
    caSecret: nameIn(layer.caSecret),
    extraNames: [],
    durationMs,
    renewBeforeMs: renewBefore(layer.rotateDaysBeforeExpiry, durationMs),
  };
}

/** How long a certificate is valid: a year at most. */
export function validityMs(duration: string | undefined): number {
  return Math.min(durationMsOf(duration ?? "") ?? yearMs, yearMs);
}

/** Upstream's "never" becomes a week: an expired certificate takes the cluster down. */
function renewBefore(days: number | undefined, durationMs: number): number {
  if (days === undefined) return Math.min(30 * dayMs, durationMs / 3);
  return Math.min((days < 0 ? 7 : days) * dayMs, durationMs / 2);
}
