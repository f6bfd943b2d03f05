import { defineKind, type Kind } from "../object/kind.ts";
import type { KubeObject } from "../object/kube-object.ts";

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
export function microTime(wallMs: number): string {
  return new Date(wallMs).toISOString().replace("Z", "000Z");
}
