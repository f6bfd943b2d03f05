import {
  createClient,
  LeaseElector,
  type LeaseElectorOptions,
  type Log,
  type ManagerOptions,
  type System,
  type Transport,
} from "@quartermaster/runtime";

import type { Settings } from "./settings.ts";

/** Name of the lease that replicas share. */
export const leaseName = "quartermaster";

interface ElectionParts {
  readonly transport: Transport;
  readonly system: System;
  readonly log: Log;
  readonly observer: NonNullable<LeaseElectorOptions["observer"]>;
}

/** How replicas agree on who acts; without a namespace for the lease this replica always does. */
export function electionFor(
  { leaseNamespace, identity }: Settings,
  { transport, system, log, observer }: ElectionParts,
): Pick<ManagerOptions, "leaderElection" | "instance"> {
  if (leaseNamespace === undefined) return {};
  const instance = identity ?? `quartermaster-${system.uuid()}`;
  const leaderElection = new LeaseElector({
    client: createClient({ transport }),
    system,
    lease: { namespace: leaseNamespace, name: leaseName },
    identity: instance,
    log,
    observer,
  });
  return { leaderElection, instance };
}
