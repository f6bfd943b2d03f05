import { settled } from "@quartermaster/runtime";
import {
  certificateRenewal,
  readCertificate,
  renewalDueMs,
  type WantedCertificate,
} from "@quartermaster/runtime/certificates";

import { awaits, type LaneRule, refuses, type SearchLane } from "../lane.ts";
import { clusterNames, operatorUser } from "../model/cluster-names.ts";
import type { SearchCluster } from "../model/search-cluster.ts";
import { ownerAnnotations } from "../owner-labels.ts";
import { searchReasons } from "../reasons.ts";
import type { CertificateOrder, SearchAction } from "../search-action.ts";
import { secretText } from "../secret-text.ts";
import type { Material, SecretFact, Seen } from "../seen.ts";
import { cookieKey, dashboardsNames, dashboardsUser } from "../workload/dashboards-names.ts";
import { monitoringNames, monitoringUser } from "../workload/monitoring-names.ts";
import { needsServedCertificates, servedCertificates } from "./served-certificates.ts";
import { wantedCertificates } from "./wanted-certificates.ts";

/** Never used, never overwritten: its maker may hold the key. */
const foreignSecret: LaneRule = {
  name: "foreignSecret",
  decide: ({ material }) => {
    const { certificates, fileRealm } = material;
    const all: readonly SecretFact[] = [
      ...rootsOf(material),
      ...[...certificates].flatMap(([name, certificate]) => (name === "monitoring" ? [] : [certificate])),
      ...(fileRealm === undefined ? [] : [fileRealm.files]),
    ];
    const foreign = all.filter(({ state }) => state === "foreign").map(({ name }) => name);
    if (foreign.length === 0) return undefined;
    return refuses(
      searchReasons.secretConflict,
      `Secret ${foreign.join(", ")} was not made by the operator and is not used. Remove it, or name your own certificates in spec.security.`,
    );
  },
};

/** Secrets that outlive the cluster. */
function rootsOf({ ca, adminPassword, fileRealm, dashboards }: Material): readonly SecretFact[] {
  const accounts = [fileRealm?.operator, dashboards].filter((each) => each !== undefined);
  return [ca, adminPassword, ...accounts];
}

/** The same of what monitors the cluster: a foreign one is its own lane's matter, and keeps no certificate from being renewed. */
function monitoringRootsOf({ monitoring, grafana }: Material): readonly SecretFact[] {
  return [monitoring, grafana].filter((each) => each !== undefined);
}

/** CA and passwords of a cluster of this name before us. */
const takeOver: LaneRule = {
  name: "takeOver",
  decide: ({ material }) => {
    const roots = [...rootsOf(material), ...monitoringRootsOf(material)];
    const kept = roots.filter(({ state }) => state === "kept");
    if (kept.length === 0) return undefined;
    const actions: readonly SearchAction[] = kept.flatMap(({ name, live }) =>
      live === undefined ? [] : [{ kind: "takeOverSecret", name, uid: live.metadata.uid }],
    );
    return awaits(searchReasons.awaitingMaterial, "CA and passwords of the earlier cluster are taken over.", {
      actor: "operator",
      actions,
    });
  },
};

/**
 * Running nodes trust the CA that they started with. A new one would split them from those that restart, so it is made before
 * the cluster has formed and never after.
 */
const caLost: LaneRule = {
  name: "authorityLost",
  decide: ({ material: { ca }, status, cluster }) => {
    const isLost = status.clusterUuid !== undefined && ca.state === "missing" && cluster.security.isEnabled;
    if (!isLost) return undefined;
    return refuses(
      searchReasons.caLost,
      `Secret ${ca.name} with the CA of this cluster is deleted. Running nodes continue; restore the Secret with its labels from a backup, before certificates end or nodes restart.`,
    );
  },
};

const makeRoots: LaneRule = {
  name: "makeRoots",
  decide: ({ material, cluster }) => {
    const names = clusterNames(cluster);
    const { ca, adminPassword } = material;
    const isCaOurs = cluster.security.transport.caSecret === undefined;
    const actions: readonly SearchAction[] = [
      ...(ca.state === "missing" && isCaOurs ? [{ kind: "keepCa" as const, name: names.caSecret }] : []),
      ...(adminPassword.state === "missing" && cluster.security.adminCredentialsSecret === undefined
        ? [{ kind: "keepPassword" as const, name: names.adminPassword, username: "admin" }]
        : []),
      ...ownAccounts(cluster, material),
    ];
    if (actions.length === 0) return undefined;
    return awaits(searchReasons.awaitingMaterial, "CA and passwords are created.", {
      actor: "operator",
      actions,
    });
  },
};

/** Accounts that no user logs in with. */
function ownAccounts(
  cluster: SearchCluster,
  { fileRealm, dashboards, monitoring, grafana }: Material,
): readonly SearchAction[] {
  const names = monitoringNames(cluster);
  const { operatorPassword } = clusterNames(cluster);
  const { password } = dashboardsNames(cluster);
  return [
    ...(fileRealm?.operator.state === "missing"
      ? [{ kind: "keepPassword" as const, name: operatorPassword, username: operatorUser }]
      : []),
    ...(dashboards?.state === "missing"
      ? [{ kind: "keepPassword" as const, name: password, username: dashboardsUser, alsoRandom: [cookieKey] }]
      : []),
    ...(monitoring?.state === "missing"
      ? [{ kind: "keepPassword" as const, name: names.password, username: monitoringUser }]
      : []),
    ...(grafana?.state === "missing"
      ? [{ kind: "keepPassword" as const, name: names.grafanaPassword, username: "admin" }]
      : []),
  ];
}

const issueCertificates: LaneRule = {
  name: "issueLeaves",
  decide: (seen, now) => {
    const orders = dueCertificates(seen, now);
    if (orders.length === 0) return undefined;
    return awaits(
      searchReasons.awaitingMaterial,
      `Certificates are issued: ${orders.map(({ certificate }) => certificate).join(", ")}.`,
      { actor: "operator", actions: orders },
    );
  },
};

/** Certificates to issue now: missing, about to end, not as they should be, or requested. */
function dueCertificates(seen: Seen, now: Date): readonly CertificateOrder[] {
  return wantedCertificates(seen).flatMap((order) => {
    const { pair, live } = seen.material.certificates.get(order.certificate) ?? {};
    const wanted = wantedOf(seen, order);
    const isTrusted = secretText(live, "ca.crt") === order.trustPem;
    const isGood = certificateRenewal(pair, wanted, now.getTime()) === undefined && isTrusted;
    return isGood && !isRenewalRequested(order, live) ? [] : [order];
  });
}

/**
 * The author requests it with a value that the certificate was not issued for. The value is written with the pair: each certificate is renewed once
 * per value, whenever we crash.
 */
function isRenewalRequested({ requested }: CertificateOrder, live: SecretFact["live"]): boolean {
  return requested !== undefined && live?.metadata.annotations?.[ownerAnnotations.renewed] !== requested;
}

/** The last value of the author's `renew-certificates` that every certificate was issued for. */
export function renewedValue(seen: Pick<Seen, "cluster" | "material" | "status">): string | undefined {
  const orders = wantedCertificates(seen);
  const { renewCertificates: requested } = seen.cluster.requests;
  const isDone =
    orders.length > 0 &&
    orders.every(
      (order) => !isRenewalRequested(order, seen.material.certificates.get(order.certificate)?.live),
    );
  return requested !== undefined && isDone ? requested : seen.status.certificates?.renewed;
}

function wantedOf(
  { cluster }: Seen,
  { certificate, ca, subject, dnsNames, usages }: CertificateOrder,
): WantedCertificate {
  const { renewBeforeMs } = certificate === "http" ? cluster.security.http : cluster.security.transport;
  return {
    subject,
    dnsNames,
    usages,
    caPem: ca.certificatePem,
    ...(renewBeforeMs === undefined ? {} : { renewBeforeMs }),
  };
}

/** kubelet brings new files within 90 s; a node that has not loaded them after so long needs an administrator. */
const reloadTimeoutMs = 15 * 60_000;
/** Between two tries: files may not have arrived at the first. */
const reloadAgainMs = 10_000;

/**
 * Running nodes read renewed certificates on request. A response proves nothing, so the certificates of each node are read
 * afterwards, and the request is repeated until they are the new ones. One node goes first: a certificate that no node can serve costs one node.
 */
const reloadNodes: LaneRule = {
  name: "reloadNodes",
  decide: (seen, now) => {
    if (!needsServedCertificates(seen)) return undefined;
    const certificates = servedCertificates(seen);
    if (certificates === undefined || certificates.isProven) return undefined;
    const { stale, current, notBeforeMs } = certificates;
    const actions = (current.length === 0 ? stale.slice(0, 1) : stale).map(
      ({ node, layers }): SearchAction => ({ kind: "reloadCertificates", node, layers }),
    );
    if (stale.length === 0 || now.getTime() - notBeforeMs < reloadTimeoutMs)
      return { actions, outcome: settled(reloadAgainMs) };
    const names = stale.map(({ node }) => node);
    return awaits(
      searchReasons.certificatesNotServed,
      `Renewed certificates are not served yet by ${names.slice(0, 5).join(", ")}${names.length > 5 ? ` and ${String(names.length - 5)} more` : ""}. If they do not take them, restart them with the annotation search.quartermaster.dev/restart.`,
      { actor: "engine", actions, retryAfterMs: 60_000 },
    );
  },
};

/** Nothing is due; the next reconcile is when the first certificate is. */
const allValid: LaneRule = {
  name: "allValid",
  decide: (seen, now) => {
    const dueMs = wantedCertificates(seen).flatMap((order) => {
      const facts = readCertificate(
        seen.material.certificates.get(order.certificate)?.pair?.certificatePem ?? "",
      );
      return facts === undefined ? [] : [renewalDueMs(facts, wantedOf(seen, order)) - now.getTime()];
    });
    return {
      actions: [],
      outcome: dueMs.length === 0 ? settled() : settled(Math.max(1000, Math.min(...dueMs))),
    };
  },
};

/** CA, certificates and the administrator's password. */
export const certificatesLane: SearchLane = {
  name: "certificates",
  rules: [foreignSecret, takeOver, caLost, makeRoots, issueCertificates, reloadNodes, allValid],
};
