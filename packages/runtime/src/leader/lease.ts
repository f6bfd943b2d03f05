import { definedFields } from "../object/defined-fields.ts";
import { defineKind, type Kind } from "../object/kind.ts";
import type { KubeObject, ObjectRef } from "../object/kube-object.ts";

/** A lock that the API server keeps: who holds it, and how long without a renewal. */
export interface Lease extends KubeObject {
  readonly spec?: LeaseSpec;
}

/** As the API writes it; times are for people, candidates go by their own clocks. */
export interface LeaseSpec {
  /** Empty or absent: given back. */
  readonly holderIdentity?: string;
  readonly leaseDurationSeconds?: number;
  readonly acquireTime?: string;
  readonly renewTime?: string;
  /** How often the lease changed hands. */
  readonly leaseTransitions?: number;
}

/** Leases of coordination.k8s.io. */
export const leases: Kind<Lease> = defineKind<Lease>({
  group: "coordination.k8s.io",
  version: "v1",
  kind: "Lease",
  plural: "leases",
  scope: "Namespaced",
});

/** Wall-clock time with microseconds, as leases want it. */
function microTime(wallMs: number): string {
  return new Date(wallMs).toISOString().replace("Z", "000Z");
}

export interface LeaseWriter {
  readonly identity: string;
  readonly leaseMs: number;
  readonly wallMs: number;
}

/** A lease that did not exist. */
export function createdLease({ name, namespace }: ObjectRef, writer: LeaseWriter): Lease {
  return {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: definedFields({ name, namespace }),
    spec: { ...held(writer), acquireTime: microTime(writer.wallMs), leaseTransitions: 0 },
  };
}

/** The lease of another holder, taken by us. */
export function takenLease(lease: Lease, writer: LeaseWriter): Lease {
  const leaseTransitions = (lease.spec?.leaseTransitions ?? 0) + 1;
  const acquireTime = microTime(writer.wallMs);
  return { ...lease, spec: { ...lease.spec, ...held(writer), acquireTime, leaseTransitions } };
}

/** Our own lease once more. */
export function renewedLease(lease: Lease, writer: LeaseWriter): Lease {
  return { ...lease, spec: { ...lease.spec, ...held(writer) } };
}

/** Our lease after its release: free for the first candidate, and short for those who only read the duration. */
export function releasedLease(lease: Lease, { wallMs }: Pick<LeaseWriter, "wallMs">): Lease {
  const renewTime = microTime(wallMs);
  return { ...lease, spec: { ...lease.spec, holderIdentity: "", leaseDurationSeconds: 1, renewTime } };
}

function held({ identity, leaseMs, wallMs }: LeaseWriter): Lease["spec"] {
  return {
    holderIdentity: identity,
    leaseDurationSeconds: Math.ceil(leaseMs / 1_000),
    renewTime: microTime(wallMs),
  };
}
