import { type ElasticsearchCluster, elasticsearchCluster } from "@quartermaster/api";
import {
  clusterLicense,
  type ClusterLicense,
  licenseAssociation,
  type LicenseAssociation,
} from "@quartermaster/api/licensing";
import { controllerReference, type Kind, type KubeObject, type Live } from "@quartermaster/runtime";
import { secrets } from "@quartermaster/runtime/kinds";
import { RecordedReconcile } from "@quartermaster/testkit";

import { bind } from "../../src/binding/bind.ts";
import type { Binding, BindingTarget } from "../../src/binding/decide-binding.ts";
import { licenseCopy, type MadeSecret, signatureSecret } from "../../src/binding/license-copy.ts";
import { type PoolLicense, readPoolLicense } from "../../src/pool/license-pool.ts";
import { aCluster, anEnterprise, nowMs, theSignatures } from "./license-objects.ts";

const enterprise = anEnterprise("e", ["p1", "p2", "p3", "p4", "p5"]);
const enforced = anEnterprise("e", ["p1"], { capacityPolicy: { mode: "Enforce" } });
const signatures = theSignatures(enterprise);

function readPool(license: typeof enterprise): PoolLicense {
  return readPoolLicense(license, { licenseNamespace: "licenses", secretOf: () => signatures });
}

/** Binds a cluster to the license of the pool with this number, from 1. */
export function toPool(number: number): Extract<BindingTarget, { readonly kind: "pool" }> {
  const pool = readPool(enterprise);
  const nested = pool.nested[number - 1];
  if (nested === undefined) throw new Error(`no license ${String(number)}`);
  return { kind: "pool", pool, nested };
}

export interface BoundBefore {
  readonly license?: object;
  /** Number of licenses that were copied for the cluster, one after the other; the last is the copy. */
  readonly copies?: number;
  readonly association?: Partial<LicenseAssociation["spec"]["source"]> | true;
  readonly enforcing?: boolean;
  /** The Secret of the copy no longer exists. */
  readonly isSignatureLost?: boolean;
}

/** Objects in memory, and a binding that is carried out over them. */
export interface BindBench {
  readonly api: RecordedReconcile;
  readonly run: (target: BindingTarget) => Promise<void>;
  /** Copy and association as they are now. */
  readonly now: () => {
    readonly copy: Live<ClusterLicense> | undefined;
    readonly association: Live<LicenseAssociation> | undefined;
  };
}

/** A cluster with what was bound to it before. */
export function bindBench(given: BoundBefore = {}): BindBench {
  const { license, association } = given;
  const api = new RecordedReconcile();
  const declared = aCluster("a", license === undefined ? {} : { license });
  const cluster = api.put(elasticsearchCluster.kind, declared) as Live<ElasticsearchCluster>;
  putCopies(api, cluster, given);
  if (association !== undefined)
    putOwned({ api, cluster }, licenseAssociation.kind, associationFrom(association));
  const read = <O extends KubeObject>(kind: Kind<O>, name: string): Live<O> | undefined =>
    api.read(kind, { namespace: "team", name });
  const now = (): Parameters<typeof bind>[1]["now"] => ({
    copy: read(clusterLicense.kind, "a-pool"),
    association: read(licenseAssociation.kind, "a-license"),
  });
  return {
    api,
    now,
    run: async (target) => {
      const enforcing = given.enforcing === true ? readPool(enforced) : undefined;
      await bind({ target } as Binding, { cluster, now: now(), nowMs, ctx: api.context(cluster), enforcing });
    },
  };
}

interface Location {
  readonly api: RecordedReconcile;
  readonly cluster: Live<ElasticsearchCluster>;
}

function putOwned({ api, cluster }: Location, kind: Kind, object: Pick<KubeObject, "metadata">): Live {
  const metadata = { namespace: "team", ...object.metadata, ownerReferences: [controllerReference(cluster)] };
  return api.put(kind, { apiVersion: "", kind: kind.kind, ...object, metadata });
}

function putCopies(
  api: RecordedReconcile,
  cluster: Live<ElasticsearchCluster>,
  { copies = 0, isSignatureLost = false }: BoundBefore,
): void {
  const made: MadeSecret[] = [];
  for (let number = 1; number <= copies; number += 1) {
    const { nested } = toPool(number);
    const secret = signatureSecret(cluster, nested);
    if (secret === undefined) throw new Error("no signature");
    const { name, uid } = putOwned({ api, cluster }, secrets, secret).metadata;
    putOwned({ api, cluster }, clusterLicense.kind, licenseCopy(cluster, nested, [{ name, uid }, ...made]));
    made.unshift({ name, uid });
  }
  if (isSignatureLost) for (const { name } of made) api.remove(secrets, { namespace: "team", name });
}

function associationFrom(changes: NonNullable<BoundBefore["association"]>): LicenseAssociation {
  const source = { namespace: "licenses", name: "e", uid: "e-uid", since: "2025-01-01T00:00:00Z" };
  return {
    metadata: { name: "a-license" },
    spec: {
      clusterRef: { name: "a" },
      licenseRef: { name: "a-pool", uid: "p1" },
      origin: "Controller",
      source: { ...source, ...(changes === true ? {} : changes) },
    },
  } as unknown as LicenseAssociation;
}
