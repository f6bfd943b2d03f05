import { readCertificate } from "@quartermaster/runtime/certificates";

import { clusterNames } from "../model/cluster-names.ts";
import type { SearchCluster } from "../model/search-cluster.ts";
import type { Material, Seen } from "../seen.ts";
import type { UserSecrets } from "./spec-references.ts";

/**
 * Who vouches for certificates of the author's: for those that are declared, and for those that nodes serve until they are restarted,
 * declared or not. The latter are known on their own, too: the name that was verified in them may be declared no more.
 */
export function foreignCertificates(
  { cluster, mounted, issuers }: Pick<Seen, "cluster" | "mounted"> & Pick<Material, "issuers">,
  user: UserSecrets,
): Pick<Material, "foreignTrust" | "foreignHttpTrust" | "mountedCertificates"> {
  const { transportCertificate, httpCertificate } = clusterNames(cluster);
  const isForeign = (name: string): boolean => name !== transportCertificate && name !== httpCertificate;
  const trustOf = (layer: "transport" | "http"): readonly string[] => {
    const names = [...suppliedName(cluster.security[layer], user), ...mounted[layer].filter(isForeign)];
    const { isGenerated, caSecret } = cluster.security[layer];
    return [
      ...[...new Set(names)].flatMap((name) => user.optional(name, "ca.crt") ?? []),
      ...(isGenerated || caSecret === undefined ? [] : (user.read(caSecret, ["ca.crt"]) ?? [])),
    ];
  };
  const { adminSecret } = cluster.security;
  const clientCa = adminSecret === undefined ? undefined : user.optional(adminSecret, "ca.crt");
  const issuer = issuers?.get("http")?.certificatePem;
  const [transport, http] = [trustOf("transport"), trustOf("http")];
  return {
    foreignTrust: [
      ...new Set([...transport, ...http, ...[issuer, clientCa].filter((pem) => pem !== undefined)]),
    ],
    foreignHttpTrust: issuer === undefined ? http : [...http, issuer],
    mountedCertificates: mounted.http
      .filter(isForeign)
      .flatMap((name) => readCertificate(user.optional(name, "tls.crt") ?? "")?.fingerprint ?? []),
  };
}

/** The author's certificate has to be there before pods start. */
function suppliedName(
  { isEnabled, isGenerated, secret }: SearchCluster["security"]["http"],
  user: UserSecrets,
): readonly string[] {
  if (!isEnabled || isGenerated || secret === undefined) return [];
  user.read(secret, ["tls.crt", "tls.key"]);
  return [secret];
}
