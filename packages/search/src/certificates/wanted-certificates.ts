import { adminSubject, clusterNames, nodeSubject, poolNames } from "../model/cluster-names.ts";
import type { SearchCluster } from "../model/search-cluster.ts";
import type { CertificateOrder } from "../search-action.ts";
import type { CertificateName, Seen } from "../seen.ts";
import { dashboardsNames } from "../workload/dashboards-names.ts";
import { monitoringNames } from "../workload/monitoring-names.ts";

/** Every certificate that the cluster should have; none while there is no CA. */
export function wantedCertificates({
  cluster,
  material,
}: Pick<Seen, "cluster" | "material">): readonly CertificateOrder[] {
  const { pair: ca } = material.ca;
  if (ca === undefined) return [];
  const trustPem = [ca.certificatePem, ...material.foreignTrust].map((pem) => `${pem.trim()}\n`).join("");
  const requested = cluster.requests.renewCertificates;
  const order = { kind: "issueCertificate", ca, trustPem, requested } as const;
  const all = [
    ...(material.certificates.has("dashboards") ? [dashboardsCertificate(cluster, order)] : []),
    ...(isOwnStack(material) ? [monitoringCertificate(cluster, order)] : []),
    ...(cluster.security.isEnabled ? nodeCertificates(cluster, material, order) : []),
  ];
  return all.flatMap((each) => signed(each, cluster, material));
}

function nodeCertificates(
  cluster: SearchCluster,
  { certificates }: Seen["material"],
  order: SharedOrder,
): readonly CertificateOrder[] {
  return [
    {
      ...order,
      certificate: "transport",
      secretName: clusterNames(cluster).transportCertificate,
      subject: nodeSubject(cluster),
      dnsNames: nodeDnsNames(cluster),
      usages: ["server", "client"],
      durationMs: cluster.security.transport.durationMs,
    },
    httpCertificate(cluster, order),
    ...(certificates.has("admin") ? [adminCertificate(cluster, order)] : []),
  ];
}

/** The order with the CA that the author names for this certificate. One that is not there yet is waited for: no other signs in its place. */
function signed(
  order: CertificateOrder,
  cluster: SearchCluster,
  { issuers }: Seen["material"],
): readonly CertificateOrder[] {
  if (ownIssuer(order.certificate, cluster) === undefined) return [order];
  const ca = issuers?.get(order.certificate);
  return ca === undefined ? [] : [{ ...order, ca }];
}

/** Secret with the CA of one certificate, where that is not the CA of the cluster. */
export function ownIssuer(
  certificate: CertificateName,
  { security: { http, transport }, dashboards }: SearchCluster,
): string | undefined {
  if (certificate === "dashboards") return dashboards?.tlsCaSecret;
  const isOwn = certificate === "http" && http.isGenerated && http.caSecret !== transport.caSecret;
  return isOwn ? http.caSecret : undefined;
}

/** A Secret of another client else's under the stack's name is the matter of its own lane, and keeps no certificate of nodes from being renewed. */
function isOwnStack({ certificates }: Seen["material"]): boolean {
  const cert = certificates.get("monitoring");
  return cert !== undefined && cert.state !== "foreign";
}

/** Common fields of all orders of a cluster. */
type SharedOrder = Pick<CertificateOrder, "kind" | "ca" | "trustPem" | "requested">;

/** What clients see. */
function httpCertificate(cluster: SearchCluster, order: SharedOrder): CertificateOrder {
  const { http } = cluster.security;
  return {
    ...order,
    certificate: "http",
    secretName: clusterNames(cluster).httpCertificate,
    subject: { ...nodeSubject(cluster), commonName: "http" },
    dnsNames: [...nodeDnsNames(cluster), ...http.extraNames],
    usages: ["server"],
    durationMs: http.durationMs,
  };
}

/** What users of Dashboards or Kibana see. */
function dashboardsCertificate(cluster: SearchCluster, order: SharedOrder): CertificateOrder {
  const { service, certificate } = dashboardsNames(cluster);
  return {
    ...order,
    certificate: "dashboards",
    secretName: certificate,
    subject: { ...nodeSubject(cluster), commonName: "dashboards" },
    dnsNames: [...domains(service, cluster), "localhost"],
    usages: ["server"],
    durationMs: cluster.dashboards?.tlsDurationMs ?? cluster.security.http.durationMs,
  };
}

/** Certificate of the cluster's own Prometheus, Alertmanager and Grafana: one for all, since one operator makes and renews them. */
function monitoringCertificate(cluster: SearchCluster, order: SharedOrder): CertificateOrder {
  const { certificate, stack } = monitoringNames(cluster);
  const services = Object.values(stack);
  return {
    ...order,
    certificate: "monitoring",
    secretName: certificate,
    subject: { ...nodeSubject(cluster), commonName: "monitoring" },
    dnsNames: [...services.flatMap((service) => domains(service, cluster)), "localhost"],
    usages: ["server"],
    durationMs: cluster.security.http.durationMs,
  };
}

/** The operator's own; where the engine takes no administrator by certificate there is none. */
function adminCertificate(cluster: SearchCluster, order: SharedOrder): CertificateOrder {
  return {
    ...order,
    certificate: "admin",
    secretName: clusterNames(cluster).adminCertificate,
    subject: adminSubject(cluster),
    dnsNames: [],
    usages: ["client"],
    durationMs: cluster.security.transport.durationMs,
  };
}

/** The name under which the operator and clients in the cluster verify every node. */
export function serverNameOf({
  serviceName,
  namespace,
}: Pick<SearchCluster, "serviceName" | "namespace">): string {
  return `${serviceName}.${namespace}.svc`;
}

/** All names under which a node is reached. They follow from the pools' names, not from their sizes: growing needs no new certificate. */
function nodeDnsNames(cluster: SearchCluster): readonly string[] {
  const { namespace, pools, clusterDomain = "cluster.local" } = cluster;
  const names = clusterNames(cluster);
  const headless = pools.map((pool) => poolNames(cluster, pool).service);
  return [
    ...domains(names.clientService, cluster),
    ...domains(names.discoveryService, cluster),
    ...headless.flatMap((service) => [
      `*.${service}.${namespace}.svc`,
      `*.${service}.${namespace}.svc.${clusterDomain}`,
    ]),
    "localhost",
  ];
}

function domains(
  service: string,
  { namespace, clusterDomain = "cluster.local" }: Pick<SearchCluster, "namespace" | "clusterDomain">,
): readonly string[] {
  return [
    service,
    `${service}.${namespace}`,
    `${service}.${namespace}.svc`,
    `${service}.${namespace}.svc.${clusterDomain}`,
  ];
}
