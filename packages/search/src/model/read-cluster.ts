import {
  type ElasticsearchCluster,
  ignoredFields,
  isReadLabel,
  type NamedField,
  type OpenSearchCluster,
  refusedFields,
} from "@quartermaster/api";
import type { Live } from "@quartermaster/runtime";

import { effectiveReplicas } from "./autoscaling-policy.ts";
import { checkCluster } from "./check-cluster.ts";
import { distributionFacts, distributionOf } from "./distribution-facts.ts";
import { versionOfImage } from "./image-version.ts";
import { maintenanceWindow } from "./maintenance-window.ts";
import { ownerless, readClientService, readCommonMetadata, readHelper } from "./object-metadata.ts";
import { imageOf, nameIn, podSettingsOf, present } from "./pod-settings.ts";
import { readGrpc } from "./read-grpc.ts";
import { readMonitoring } from "./read-monitoring.ts";
import { readPool } from "./read-pool.ts";
import { readSecurity, validityMs } from "./read-security.ts";
import type {
  DashboardsSettings,
  NodePool,
  PodSettings,
  SearchCluster,
  SpecIssue,
} from "./search-cluster.ts";
import { withinBudget } from "./within-budget.ts";

/** Any kind that declares a search cluster. */
export type ClusterObject = OpenSearchCluster | ElasticsearchCluster;

/** A declaration as lanes read it, with everything that is wrong with it. */
export interface ReadCluster {
  readonly cluster: SearchCluster;
  /** All of them; while there is one, nothing is made or changed. */
  readonly issues: readonly SpecIssue[];
  /** Fields that are set and have no effect, each with its reason. */
  readonly ignored: readonly NamedField[];
}

/** How `status.restarted` names all pools. */
export const allPools = "*";

/** Annotations that request something begin so. */
const REQUEST_PREFIX = "search.quartermaster.dev/";

/** The annotation that requests a restart of all pools, or of one. */
export function restartAnnotation(pool: string | undefined): string {
  return pool === undefined ? `${REQUEST_PREFIX}restart` : `${REQUEST_PREFIX}restart.${pool}`;
}

/** Reads a declaration of either group or distribution. Never throws: what is wrong is in `issues`. */
export function readCluster(object: Live<ClusterObject>): ReadCluster {
  const { cluster, issues } = withinBudget(clusterOf(object));
  const { clusterKind } = distributionFacts[cluster.distribution];
  const refused = refusedFields(clusterKind, object.spec).map(({ path, why }) => ({
    path,
    reason: "InvalidSpec" as const,
    message: `is refused: ${why}`,
  }));
  return {
    cluster,
    issues: [...issues, ...refused, ...checkCluster(cluster, object.spec)],
    ignored: ignoredFields(clusterKind, object.spec),
  };
}

function clusterOf(object: Live<ClusterObject>): SearchCluster {
  const { spec } = object;
  const { general } = spec;
  const { additionalConfig = {}, pluginsList = [] } = general;
  return {
    ...identityOf(object),
    serviceName: general.serviceName,
    httpPort: general.httpPort,
    serverName:
      present(spec.security?.config?.operatorClientServerName) ?? present(general.operatorClusterURL),
    pools: spec.nodePools.map((pool) => scaled(readPool(pool, general, versionIn(general)), object.status)),
    config: additionalConfig,
    plugins: pluginsList,
    keystore: keystoreOf(general),
    ...engineEntriesOf(general),
    security: readSecurity(spec.security),
    pod: generalPod(general),
    grpc: readGrpc(general.grpc, versionIn(general)),
    helper: readHelper(spec),
    nodeAttributes: attributesOf(general),
    serviceAnnotations: ownerless(general.annotations ?? {}),
    service: readClientService(general),
    common: readCommonMetadata(general),
    dashboards: readDashboards(object),
    monitoring: readMonitoring(general.monitoring),
    networkPolicy: networkPolicyOf(general),
    ...retentionOf(general),
    drainsBeforeRestart: general.drainDataNodes === true,
    drainsBeforeRemoval: !("confMgmt" in spec) || spec.confMgmt?.smartScaler !== false,
    ...operationsOf(spec),
    requests: {
      acceptNewCluster: request(object, "accept-new-cluster"),
      renewCertificates: request(object, "renew-certificates"),
      ...restartRequests(object),
      skipChecks: (request(object, "skip-check") ?? "").split(",").map((name) => name.trim()),
    },
  };
}

/** Labels that the operator does not read for authors are named by the condition FieldsIgnored. */
function attributesOf({ nodeAttributes = [] }: General): SearchCluster["nodeAttributes"] {
  return nodeAttributes.filter(({ nodeLabel }) => isReadLabel(nodeLabel));
}

function engineEntriesOf({
  clusterSettings = {},
  snapshotRepositories = [],
}: General): Pick<SearchCluster, "dynamicSettings" | "repositories" | "repositoryUrls"> {
  return {
    dynamicSettings: clusterSettings,
    repositories: snapshotRepositories.map(({ settings = {}, ...each }) => ({ ...each, settings })),
    // The operator's, which no declaration knows.
    repositoryUrls: [],
  };
}

function operationsOf({
  operations: { windows = [], paused, deletionProtection } = {},
}: ClusterObject["spec"]): Pick<SearchCluster, "windows" | "isPaused" | "isDeletionProtected"> {
  return {
    windows: windows.map(maintenanceWindow),
    isPaused: paused === true,
    isDeletionProtected: deletionProtection === true,
  };
}

/** The pool with as many nodes as it has to have. */
function scaled(pool: NodePool, status: ClusterObject["status"]): NodePool {
  return { ...pool, replicas: effectiveReplicas(pool, status) };
}

function retentionOf({
  persistentVolumeClaimRetentionPolicy: policy,
}: General): Pick<SearchCluster, "whenDeleted" | "whenPoolRemoved"> {
  return { whenDeleted: policy?.whenDeleted ?? "Retain", whenPoolRemoved: policy?.whenScaled ?? "Retain" };
}

type General = ClusterObject["spec"]["general"];
type Identity = "distribution" | "name" | "namespace" | "uid" | "version" | "image" | "home";

function identityOf({
  metadata,
  spec: { general },
  kind,
}: Live<ClusterObject>): Pick<SearchCluster, Identity> {
  const distribution = distributionOf(kind);
  const { repository, image, home } = distributionFacts[distribution];
  const version = versionIn(general);
  const { name, namespace, uid } = metadata;
  return {
    distribution,
    name,
    namespace,
    uid,
    version,
    image: imageOf(general, `${general.defaultRepo ?? repository}/${image}:${version}`),
    home: general.opensearchHome ?? home,
  };
}

/** The version, or that in the tag of the image: `registry/opensearch:2.19.4`. */
function versionIn({ version, image = "" }: General): string {
  return present(version) ?? versionOfImage(image) ?? "";
}

function keystoreOf({ keystore = [] }: General): SearchCluster["keystore"] {
  return keystore.flatMap(({ secret, keyMappings = {} }) => {
    const secretName = nameIn(secret);
    return secretName === undefined ? [] : [{ secretName, keys: keyMappings }];
  });
}

function generalPod(general: General): PodSettings {
  const { podLabels: labels, podAnnotations: annotations } = general;
  const overrides = podSettingsOf({ ...general, labels, annotations });
  return {
    ...overrides,
    spec: { ...overrides.spec, ...accountOf(general) },
    ...(general.command === undefined ? {} : { command: general.command }),
    setsMaxMapCount: general.setVMMaxMapCount === true,
  };
}

function accountOf({ serviceAccount }: General): { readonly serviceAccountName?: string } {
  const serviceAccountName = present(serviceAccount);
  return serviceAccountName === undefined ? {} : { serviceAccountName };
}

function networkPolicyOf({ networkPolicy = {} }: General): SearchCluster["networkPolicy"] {
  const { enable = true, from = [] } = networkPolicy;
  return { isEnabled: enable, from };
}

function request({ metadata }: Live<ClusterObject>, name: string): string | undefined {
  return present(metadata.annotations?.[`${REQUEST_PREFIX}${name}`]);
}

/** The newest values: those of the annotations, or those that were acted on before the annotations went away. */
function restartRequests(
  object: Live<ClusterObject>,
): Pick<SearchCluster["requests"], "restart" | "restartPools"> {
  const before = new Map((object.status?.restarted ?? []).map(({ scope, value }) => [scope, value]));
  const perPool = object.spec.nodePools.flatMap(({ component }) => {
    const value = request(object, `restart.${component}`) ?? before.get(component);
    return value === undefined ? [] : [[component, value] as const];
  });
  return {
    restart: request(object, "restart") ?? before.get(allPools),
    restartPools: Object.fromEntries(perPool),
  };
}

type DashboardsSpec = NonNullable<OpenSearchCluster["spec"]["dashboards"]>;

function readDashboards({ spec, kind }: Live<ClusterObject>): DashboardsSettings | undefined {
  const overrides = "dashboards" in spec ? spec.dashboards : kibanaOf(spec);
  if (overrides?.enable !== true) return undefined;
  const { general } = spec;
  const { additionalConfig = {}, replicas, resources, pluginsList = [] } = overrides;
  const version = present(overrides.version) ?? versionIn(general);
  const { dashboardsRepository, dashboardsHome, dashboards } = distributionFacts[distributionOf(kind)];
  return {
    version,
    home: present(overrides.opensearchDashboardsHome) ?? dashboardsHome,
    image: imageOf(overrides, `${general.defaultRepo ?? dashboardsRepository}/${dashboards}:${version}`),
    replicas,
    ...dashboardsTls(overrides),
    basePath: present(overrides.basePath),
    config: additionalConfig,
    credentialsSecret: nameIn(overrides.opensearchCredentialsSecret),
    resources,
    plugins: pluginsList,
    service: dashboardsService(overrides),
    pod: dashboardsPod(overrides, general),
  };
}

function kibanaOf(spec: ClusterObject["spec"]): DashboardsSpec | undefined {
  return "kibana" in spec ? spec.kibana : undefined;
}

/** Account and network are those of the cluster, as upstream has it. */
function dashboardsPod(overrides: DashboardsSpec, general: General): PodSettings {
  const settings = podSettingsOf({ ...overrides, hostNetwork: general.hostNetwork });
  return { ...settings, spec: { ...settings.spec, ...accountOf(general) } };
}

function dashboardsTls({
  tls,
}: DashboardsSpec): Pick<DashboardsSettings, "isTlsEnabled" | "tlsSecret" | "tlsCaSecret" | "tlsDurationMs"> {
  const tlsSecret = tls?.generate === true ? undefined : nameIn(tls?.secret);
  return {
    isTlsEnabled: tls?.enable === true,
    tlsSecret,
    tlsCaSecret: tlsSecret === undefined ? nameIn(tls?.caSecret) : undefined,
    tlsDurationMs: validityMs(tls?.duration),
  };
}

function dashboardsService({ service }: DashboardsSpec): DashboardsSettings["service"] {
  const { type = "ClusterIP", labels = {}, loadBalancerSourceRanges = [] } = service ?? {};
  return { type, labels, sourceRanges: loadBalancerSourceRanges };
}
