import type { KeyObject } from "node:crypto";

import { type ElasticsearchCluster, elasticsearchCluster } from "@quartermaster/api";
import {
  type ClusterLicense,
  clusterLicense,
  type EnterpriseLicense,
  enterpriseLicense,
  type LicenseAssociation,
  licenseAssociation,
  LICENSING_GROUP,
  SIGNATURE_SECRET_TYPE,
} from "@quartermaster/api/licensing";
import {
  type Client,
  createManager,
  defineKind,
  type Kind,
  type KubeObject,
  type Live,
  realSystem,
  silentLog,
  type Telemetry,
} from "@quartermaster/runtime";
import { secrets } from "@quartermaster/runtime/kinds";
import {
  type Access,
  connect,
  crashGraceMs,
  type AuditPosition,
  type AuditEntry,
  eventually,
  type Identity,
  joinSharedCluster,
  makeIdentity,
  makeNamespace,
} from "@quartermaster/testkit";

import { licensingSettings, licensingDomain } from "../../src/index.ts";
import { signatureText } from "./signatures.ts";

const dayMs = 86_400_000;

/** A license inside an EnterpriseLicense of a test. One of the uid `outer` gives the outer signature. */
export interface Nested {
  readonly uid: string;
  readonly type?: string;
  readonly daysLeft?: number;
  /** Its signature (default: one of its own). */
  readonly signature?: string;
}

/** How controllers are started. */
export interface OperateOptions {
  /** Told of each reconcile. */
  readonly telemetry?: Telemetry;
  /** Way to the API server, e.g. through a fault proxy (default: directly, with the shipped permissions). */
  readonly access?: Access;
}

/** What tests of licensing start from: a license namespace, a namespace of a team, and controllers with the shipped permissions. */
export interface LicenseBench extends AsyncDisposable {
  readonly client: Client;
  readonly cluster: ReturnType<typeof joinSharedCluster>;
  /** Where EnterpriseLicenses are honoured. */
  readonly pool: string;
  /** Where clusters are. */
  readonly team: string;
  readonly operator: string;
  readonly operatorAccess: Identity;
  /** Starts the controllers. */
  operate(options?: OperateOptions): Promise<void>;
  /** Stops them without letting them finish. */
  stop(): Promise<void>;
  createCluster(
    name: string,
    more?: {
      readonly labels?: object;
      readonly annotations?: object;
      readonly nodes?: number;
      /** Whether the search domain reports its nodes as members (default: true). */
      readonly isRunning?: boolean;
    },
  ): Promise<Live<ElasticsearchCluster>>;
  /** Writes what the search domain would report. */
  report(name: string, status: object): Promise<void>;
  createEnterprise(name: string, nested: readonly Nested[], more?: object): Promise<Live<EnterpriseLicense>>;
  createLicense(name: string, license: Nested): Promise<Live<ClusterLicense>>;
  associate(name: string, spec: object): Promise<void>;
  /** The object once it satisfies the demand. */
  until<O extends KubeObject>(
    kind: Kind<O>,
    ref: { readonly namespace: string; readonly name: string },
    demand: (object: O) => boolean,
  ): Promise<Live<O>>;
  association(
    name: string,
    demand: (object: LicenseAssociation) => boolean,
  ): Promise<Live<LicenseAssociation>>;
  enterprise(name: string, demand: (object: EnterpriseLicense) => boolean): Promise<Live<EnterpriseLicense>>;
  events(name: string): Promise<readonly string[]>;
  writes(position: AuditPosition): Promise<readonly AuditEntry[]>;
}

const events = defineKind({
  group: "events.k8s.io",
  version: "v1",
  kind: "Event",
  plural: "events",
  scope: "Namespaced",
});

/** Sets it up with controllers running by default. */
export async function setUpBench({
  isOperating = true,
  vendorKey,
}: { readonly isOperating?: boolean; readonly vendorKey?: KeyObject } = {}): Promise<LicenseBench> {
  const stack = new AsyncDisposableStack();
  let managers = new AsyncDisposableStack();
  const cluster = stack.use(joinSharedCluster());
  const { client } = stack.use(connect(cluster.admin));
  const { name: pool } = stack.use(await makeNamespace(cluster.api, "licenses"));
  const { name: team } = stack.use(await makeNamespace(cluster.api, "team"));
  const domain = licensingDomain({
    ...licensingSettings,
    licenseNamespace: pool,
    ...(vendorKey === undefined ? {} : { vendorKey }),
  });
  const operator = await makeIdentity(cluster.api, cluster.admin, {
    namespace: pool,
    name: "operator",
    rules: [{ apiGroups: [""], resources: ["secrets"], verbs: ["get", "list", "watch"] }],
    clusterRules: [
      ...domain.permissions.map(({ apiGroups, resources, verbs }) => ({ apiGroups, resources, verbs })),
      // The check of the installation, which an operator makes that runs in a process of its own.
      {
        apiGroups: ["apiextensions.k8s.io"],
        resources: ["customresourcedefinitions"],
        verbs: ["list", "watch"],
      },
      { apiGroups: ["events.k8s.io"], resources: ["events"], verbs: ["create", "patch"] },
    ],
  });
  const start = async ({ telemetry, access = operator }: OperateOptions = {}): Promise<void> => {
    const link = managers.use(connect(access)).transport;
    const controllers = domain.controllers({
      transport: link,
      system: realSystem(),
      log: silentLog,
      series: { counter: () => () => undefined, gauge: () => undefined, histogram: () => () => undefined },
      namespace: team,
      concurrency: 2,
      stored: () => [],
    });
    const manager = managers.use(
      createManager({
        transport: link,
        system: realSystem(),
        controllers,
        graceMs: crashGraceMs,
        ...(telemetry === undefined ? {} : { telemetry }),
      }),
    );
    manager.start();
    await manager.ready({ timeoutMs: 30_000 });
  };
  const bench: LicenseBench = {
    client,
    cluster,
    pool,
    team,
    operator: operator.user,
    operatorAccess: operator,
    operate: start,
    stop: async () => {
      await managers.disposeAsync();
      managers = new AsyncDisposableStack();
    },
    createCluster: async (name, { labels = {}, annotations = {}, nodes = 1, isRunning = nodes > 0 } = {}) => {
      const created = await client.create(elasticsearchCluster.kind, {
        apiVersion: `${LICENSING_GROUP}/v1alpha1`,
        kind: "ElasticsearchCluster",
        metadata: { name, namespace: team, labels, annotations },
        spec: {
          general: { serviceName: name, version: "8.19.0" },
          nodePools: [
            { component: "nodes", replicas: nodes, diskSize: "1Gi", roles: ["cluster_manager", "data"] },
          ],
        },
      } as unknown as ElasticsearchCluster);
      if (isRunning) await bench.report(name, { capacity: { presentNodes: nodes } });
      return created;
    },
    report: async (name, status) => {
      await client.patch(
        elasticsearchCluster.kind,
        { namespace: team, name },
        {
          patch: {
            kind: "merge",
            body: {
              status: { engine: { transportTls: true, security: true, minVersion: "8.19.0" }, ...status },
            },
          },
          subresource: "status",
        },
      );
    },
    createEnterprise: async (name, nested, more = {}) => {
      const namespace = pool;
      await client.create(secrets, {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name: `${name}-signatures`, namespace },
        type: SIGNATURE_SECRET_TYPE,
        data: Object.fromEntries(
          [{ uid: "outer", signature: undefined }, ...nested].map(({ uid, signature }) => [
            uid,
            btoa(signature ?? signatureText(uid)),
          ]),
        ),
      });
      const dates = { issueDate: Date.now() - 100 * dayMs, issuedTo: "Example", issuer: "API" };
      return await client.create(enterpriseLicense.kind, {
        apiVersion: `${LICENSING_GROUP}/v1alpha1`,
        kind: "EnterpriseLicense",
        metadata: { name, namespace },
        spec: {
          ...dates,
          uid: `${name}-uid`,
          type: "enterprise",
          expiryDate: Date.now() + 400 * dayMs,
          maxInstances: 10,
          signatureRef: { name: `${name}-signatures` },
          clusterLicenses: nested.map((each) => ({ ...dates, ...stackOf(each) })),
          ...more,
        },
      } as unknown as EnterpriseLicense);
    },
    createLicense: async (name, license) =>
      await client.create(clusterLicense.kind, {
        apiVersion: `${LICENSING_GROUP}/v1alpha1`,
        kind: "ClusterLicense",
        metadata: { name, namespace: team },
        spec: {
          issueDate: Date.now() - 100 * dayMs,
          issuedTo: "Example",
          issuer: "API",
          ...stackOf(license),
          signatureRef: { name: `${name}-signature` },
        },
      } as unknown as ClusterLicense),
    associate: async (name, spec) => {
      await client.create(licenseAssociation.kind, {
        apiVersion: `${LICENSING_GROUP}/v1alpha1`,
        kind: "LicenseAssociation",
        metadata: { name, namespace: team },
        spec,
      } as unknown as LicenseAssociation);
    },
    until: async (kind, ref, demand) =>
      await eventually(async (see) => {
        const object = see(await client.find(kind, ref));
        return object !== undefined && demand(object) ? object : undefined;
      }),
    association: async (name, demand) =>
      await bench.until(licenseAssociation.kind, { namespace: team, name }, demand),
    enterprise: async (name, demand) =>
      await bench.until(enterpriseLicense.kind, { namespace: pool, name }, demand),
    events: async (name) => {
      const found: string[] = [];
      for (const namespace of [team, pool])
        for await (const each of client.list(events, { namespace })) {
          const event = each as unknown as {
            readonly reason: string;
            readonly regarding: { readonly name: string };
          };
          if (event.regarding.name === name) found.push(event.reason);
        }
      return found.toSorted();
    },
    writes: async (position) => await cluster.audit.writesSince(position, operator.user),
    [Symbol.asyncDispose]: async () => {
      await managers[Symbol.asyncDispose]();
      await stack[Symbol.asyncDispose]();
    },
  };
  if (isOperating) await start();
  return bench;
}

function stackOf({ uid, type = "platinum", daysLeft = 300 }: Nested): object {
  return {
    uid,
    type,
    expiryDate: Date.now() + daysLeft * dayMs,
    ...(type === "enterprise" ? { maxResourceUnits: 10 } : { maxNodes: 100 }),
  };
}
