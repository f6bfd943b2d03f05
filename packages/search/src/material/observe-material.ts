import { type Context, digestOf, isControlledBy, type Live, textOf } from "@quartermaster/runtime";
import { type CertifiedKey, isPair } from "@quartermaster/runtime/certificates";
import { configMaps, type Secret, secrets } from "@quartermaster/runtime/kinds";

import { followedData } from "../bounded-data.ts";
import { ownIssuer } from "../certificates/wanted-certificates.ts";
import { podDialect } from "../distributions/distributions.ts";
import { clusterNames } from "../model/cluster-names.ts";
import type { ClusterObject } from "../model/read-cluster.ts";
import { isPlainOpenSearch, type SearchCluster } from "../model/search-cluster.ts";
import { isKeptFor, ownerLabels } from "../owner-labels.ts";
import { secretText } from "../secret-text.ts";
import type { AccountFact, CertificateName, Login, Material, SecretFact, Seen } from "../seen.ts";
import { dashboardsNames } from "../workload/dashboards-names.ts";
import { monitoringNames } from "../workload/monitoring-names.ts";
import { foreignCertificates } from "./foreign-certificates.ts";
import { specReferences, UserSecrets } from "./spec-references.ts";

/** Reads keys, certificates and passwords: our own from the store, the author's by following their Secrets. */
export function observeMaterial(
  { object, cluster, mounted }: Pick<Seen, "object" | "cluster" | "mounted">,
  ctx: Context,
): Material {
  const names = clusterNames(cluster);
  const user = new UserSecrets(ctx);
  const { security } = cluster;
  const ca = caOf(keptSecret(ctx, cluster, names.caSecret), issuerName(security.transport), user);
  const issuers = issuersOf(cluster, user);
  const operatorClient = operatorPair(cluster, user);
  const own = (name: string): SecretFact => ownedSecret(ctx, object, { name, cluster });
  const certificates = new Map(
    certificateSecrets(cluster).map(([certificate, name]) => [certificate, withPair(own(name), "tls")]),
  );
  const adminPassword = adminOf(cluster, keptSecret(ctx, cluster, names.adminPassword), user);
  const fileRealm = hasFileRealm(cluster)
    ? {
        operator: accountOf(keptSecret(ctx, cluster, names.operatorPassword)),
        files: own(isPlainOpenSearch(cluster) ? names.securityFiles : names.fileRealm),
      }
    : undefined;
  const dashboards =
    security.isEnabled && cluster.dashboards !== undefined
      ? accountOf(keptSecret(ctx, cluster, dashboardsNames(cluster).password))
      : undefined;
  user.follow(cluster.keystore.map(({ secretName }) => secretName));
  const podInputs = {
    keystore: Object.fromEntries(
      cluster.keystore.map(({ secretName }) => [secretName, user.digest(secretName)]),
    ),
    volumes: volumeInputs(cluster, ctx, user),
  };
  for (const reference of specReferences(cluster)) user.need(reference);
  return {
    ca,
    issuers,
    operatorClient,
    certificates,
    adminPassword,
    fileRealm,
    dashboards,
    ...monitoringAccounts(cluster, ctx),
    supplied: suppliedPairs(cluster, user),
    ...foreignCertificates({ cluster, mounted, issuers }, user),
    podInputs,
    missing: security.isEnabled
      ? [...user.missing, ...missingOwn({ ca, certificates, adminPassword, fileRealm })]
      : user.missing,
  };
}

/** Accounts of what monitors the cluster: made by us unless the author names one. */
function monitoringAccounts(cluster: SearchCluster, ctx: Context): Pick<Material, "monitoring" | "grafana"> {
  const { monitoring, security } = cluster;
  const names = monitoringNames(cluster);
  const isOwn = security.isEnabled && monitoring !== undefined && monitoring.userSecret === undefined;
  const hasGrafana = monitoring?.stack.mode === "Standalone" && monitoring.stack.isGrafanaEnabled;
  return {
    monitoring: isOwn ? accountOf(keptSecret(ctx, cluster, names.password)) : undefined,
    grafana: hasGrafana ? accountOf(keptSecret(ctx, cluster, names.grafanaPassword)) : undefined,
  };
}

/** Elasticsearch takes no administrator by certificate; Dashboards has one only where the author supplies none, a stack only if it is ours. */
function certificateSecrets(cluster: SearchCluster): readonly (readonly [CertificateName, string])[] {
  const names = clusterNames(cluster);
  const nodes = [
    ["transport", names.transportCertificate],
    ["http", names.httpCertificate],
  ] as const;
  const { dashboards } = cluster;
  const isServed = dashboards?.isTlsEnabled === true && dashboards.tlsSecret === undefined;
  return [
    ...nodes,
    ...(hasFileRealm(cluster) ? [] : [["admin", names.adminCertificate] as const]),
    ...(isServed ? [["dashboards", dashboardsNames(cluster).certificate] as const] : []),
    ...(cluster.monitoring?.stack.mode === "Standalone"
      ? [["monitoring", monitoringNames(cluster).certificate] as const]
      : []),
  ];
}

function hasFileRealm(cluster: SearchCluster): boolean {
  return cluster.security.isEnabled && (podDialect(cluster).hasFileRealm || isPlainOpenSearch(cluster));
}

function missingOwn({
  ca,
  certificates,
  adminPassword,
  fileRealm,
}: Pick<Material, "ca" | "certificates" | "adminPassword" | "fileRealm">): readonly string[] {
  return [
    ...(ca.pair === undefined ? ["own CA"] : []),
    ...[...certificates].flatMap(([certificate, { pair }]) =>
      // Nodes need not wait for those of others.
      pair === undefined && certificate !== "dashboards" && certificate !== "monitoring"
        ? [`own ${certificate} certificate`]
        : [],
    ),
    ...(adminPassword.login === undefined ? ["own password of the administrator"] : []),
    ...(fileRealm === undefined || fileRealm.operator.login !== undefined
      ? []
      : ["own password of the operator"]),
    ...(fileRealm === undefined || fileRealm.files.state === "ours" ? [] : ["own file realm"]),
  ];
}

/** From the store of labeled Secrets. One without our labels is not in there: until ours exists, the name is followed. */
function namedSecret(ctx: Context, cluster: SearchCluster, name: string): Live<Secret> | undefined {
  return (
    ctx.store(secrets).get({ name, namespace: cluster.namespace }) ??
    ctx.follow(secrets, { name }, followedData)
  );
}

function ownedSecret(ctx: Context, object: Live<ClusterObject>, at: OwnSecret): SecretFact {
  const { name } = at;
  const live = namedSecret(ctx, at.cluster, name);
  if (live === undefined) return { name, state: "missing", live: undefined };
  return { name, state: isControlledBy(live, object) ? "ours" : "foreign", live };
}

interface OwnSecret {
  readonly name: string;
  readonly cluster: SearchCluster;
}

function keptSecret(ctx: Context, cluster: SearchCluster, name: string): SecretFact {
  const live = namedSecret(ctx, cluster, name);
  if (live === undefined) return { name, state: "missing", live: undefined };
  if (!isKeptFor(live, cluster)) return { name, state: "foreign", live };
  return { name, state: live.metadata.labels?.[ownerLabels.uid] === cluster.uid ? "ours" : "kept", live };
}

function withPair(
  fact: SecretFact,
  file: "tls" | "ca",
): SecretFact & { readonly pair: CertifiedKey | undefined } {
  return { ...fact, pair: fact.state === "foreign" ? undefined : pairIn(fact.live, file) };
}

function pairIn(live: Live<Secret> | undefined, file: "tls" | "ca"): CertifiedKey | undefined {
  const certificatePem = secretText(live, `${file}.crt`);
  const keyPem = secretText(live, `${file}.key`);
  if (certificatePem === undefined || keyPem === undefined) return undefined;
  const pair = { certificatePem, keyPem };
  return isPair(pair) ? pair : undefined;
}

function caOf(own: SecretFact, named: string | undefined, user: UserSecrets): Material["ca"] {
  if (named === undefined) return withPair(own, "ca");
  const [certificatePem, keyPem] = user.read(named, ["ca.crt", "ca.key"]) ?? [];
  const pair = certificatePem === undefined || keyPem === undefined ? undefined : { certificatePem, keyPem };
  return { name: named, state: pair === undefined ? "missing" : "ours", live: undefined, pair };
}

/** A CA is for certificates that are issued; beside a certificate of the author's it is only trusted. */
function issuerName({ isGenerated, caSecret }: SearchCluster["security"]["http"]): string | undefined {
  return isGenerated ? caSecret : undefined;
}

/** CAs besides that of the cluster: for clients, and for Dashboards. Without one of them its certificate is not issued. */
function issuersOf(cluster: SearchCluster, user: UserSecrets): Material["issuers"] {
  const { security, dashboards } = cluster;
  const issued: readonly CertificateName[] = [
    ...(security.isEnabled && security.http.isEnabled ? (["http"] as const) : []),
    ...(dashboards?.isTlsEnabled === true ? (["dashboards"] as const) : []),
  ];
  return new Map(
    issued.flatMap((certificate) => {
      const name = ownIssuer(certificate, cluster);
      const [certificatePem, keyPem] =
        name === undefined ? [] : (user.read(name, ["ca.crt", "ca.key"]) ?? []);
      return certificatePem === undefined || keyPem === undefined
        ? []
        : [[certificate, { certificatePem, keyPem }] as const];
    }),
  );
}

/** Only where an engine takes an administrator by certificate. */
function operatorPair(cluster: SearchCluster, user: UserSecrets): CertifiedKey | undefined {
  const { security } = cluster;
  if (security.adminSecret === undefined || !security.isEnabled || hasFileRealm(cluster)) return undefined;
  const [certificatePem, keyPem] = user.read(security.adminSecret, ["tls.crt", "tls.key"]) ?? [];
  if (certificatePem === undefined || keyPem === undefined) return undefined;
  const pair = { certificatePem, keyPem };
  return isPair(pair) ? pair : undefined;
}

function adminOf(cluster: SearchCluster, own: SecretFact, user: UserSecrets): Material["adminPassword"] {
  const named = cluster.security.adminCredentialsSecret;
  if (named === undefined) return accountOf(own);
  const [username, password] = user.read(named, ["username", "password"]) ?? [];
  const login = username === undefined || password === undefined ? undefined : { username, password };
  const live = user.live(named);
  return {
    name: named,
    state: login === undefined ? "missing" : "ours",
    live,
    login,
    version: versionOf(live),
  };
}

function accountOf(own: SecretFact): AccountFact {
  const login = own.state === "foreign" ? undefined : loginIn(own.live);
  return { ...own, login, version: versionOf(own.live) };
}

function versionOf(live: Live<Secret> | undefined): string {
  return live === undefined ? "" : `${live.metadata.uid}/${live.metadata.resourceVersion}`;
}

function loginIn(live: Live<Secret> | undefined): Login | undefined {
  const username = secretText(live, "username");
  const password = secretText(live, "password");
  return username === undefined || password === undefined ? undefined : { username, password };
}

function suppliedPairs({ security }: SearchCluster, user: UserSecrets): Material["supplied"] {
  return new Map(
    (["transport", "http"] as const).flatMap((layer) => {
      const { isEnabled, isGenerated, secret } = security[layer];
      const live = isEnabled && !isGenerated && secret !== undefined ? user.live(secret) : undefined;
      const pair = pairIn(live, "tls");
      return pair === undefined ? [] : [[layer, pair] as const];
    }),
  );
}

/** Digests of what is behind volumes that restart their pods. */
function volumeInputs(
  { pod }: SearchCluster,
  ctx: Context,
  user: UserSecrets,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    pod.volumes.flatMap((volume) => {
      if (volume["restartPods"] !== true) return [];
      const name = textOf(volume, "name") ?? "";
      const secret = textOf(volume["secret"], "secretName");
      const config = textOf(volume["configMap"], "name");
      if (secret !== undefined) return [[name, user.digest(secret)]];
      if (config === undefined) return [];
      return [[name, digestOf(ctx.follow(configMaps, { name: config }, followedData)?.data ?? {})]];
    }),
  );
}
