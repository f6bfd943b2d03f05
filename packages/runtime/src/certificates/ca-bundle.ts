import type { Client } from "../client/client.ts";
import { defineKind, type Kind } from "../object/kind.ts";
import type { KubeObject, NamespacedRef } from "../object/kube-object.ts";
import { certificatesIn, readCertificate } from "./read-certificate.ts";

/** A ConfigMap, as far as bundles go. */
export interface BundleConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

/** CAs to trust, or why there are none. Messages name no content. */
export type CaBundle =
  | {
      readonly kind: "bundle";
      /** PEM, each CA once, without the text between them. */
      readonly pem: string;
      readonly count: number;
      /** The first moment at which one of them ends. */
      readonly expiresMs: number;
    }
  /** There is no ConfigMap, or it has no such key. An injector may not have filled it yet. */
  | { readonly kind: "missing" }
  | { readonly kind: "invalid"; readonly message: string };

/** The key under which Kubernetes publishes its own CAs. */
export const bundleKey = "ca.crt";

/** CAs that one bundle may have; the system's own has some 150. */
const countLimit = 1_000;

/**
 * The CAs in a ConfigMap, e.g. one that trust-manager, OpenShift or an administrator fills. One certificate that
 * cannot be read or is no CA spoils the whole: trust is not guessed.
 */
export function caBundleIn(configMap: BundleConfigMap | undefined, key: string = bundleKey): CaBundle {
  const text = configMap?.data?.[key];
  if (text === undefined || text.trim() === "") return { kind: "missing" };
  const found = [...new Set(certificatesIn(text))];
  if (found.length === 0 || found.length > countLimit || !isWhole(text)) {
    return { kind: "invalid", message: `${key} is not PEM with 1 to ${countLimit} certificates` };
  }
  const facts = found.map(readCertificate);
  const at = facts.findIndex((each) => each?.isCa !== true);
  if (at >= 0) return { kind: "invalid", message: `certificate ${at + 1} of ${key} is not a CA's` };
  const ends = facts.map((each) => each?.validity.notAfterMs ?? 0);
  return { kind: "bundle", pem: found.join(""), count: found.length, expiresMs: Math.min(...ends) };
}

/** Reads the ConfigMap and gives its CAs. Throws what the client throws, except for one that is not there. */
export async function readCaBundle(
  client: Pick<Client, "find">,
  configMap: NamespacedRef,
  { key = bundleKey, signal }: { readonly key?: string; readonly signal?: AbortSignal } = {},
): Promise<CaBundle> {
  const found = await client.find(bundleConfigMaps, configMap, { signal });
  return caBundleIn(found, key);
}

/** Where bundles are read. */
export const bundleConfigMaps: Kind<BundleConfigMap> = defineKind<BundleConfigMap>({
  group: "",
  version: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  scope: "Namespaced",
});

/** Whether every block that begins is one that was found: a half-written one would be trusted as less than it says. */
function isWhole(text: string): boolean {
  const begun = text.match(/-----BEGIN /g)?.length ?? 0;
  return begun === certificatesIn(text).length;
}
