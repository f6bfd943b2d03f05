import { Counter, Gauge, type Registry } from "prom-client";

import type { CertificateFilesObserver } from "../certificates/certificate-files.ts";
import type { LeaseObserver } from "../leader/lease-elector.ts";

/** The series `leader_election_*`; `names` of leases exist from the start. */
export function leaderMetrics(registry: Registry, names: readonly string[]): LeaseObserver {
  const labelNames = ["name"] as const;
  const registers = [registry];
  const status = new Gauge({
    name: "leader_election_master_status",
    help: "Gauge of if the reporting system is master of the relevant lease, 0 indicates backup, 1 indicates master. 'name' is the string used to identify the lease. Please make sure to group by name.",
    labelNames,
    registers,
  });
  const slowPaths = new Counter({
    name: "leader_election_slowpath_total",
    help: "Total number of slow path exercised in renewing leader leases. 'name' is the string used to identify the lease. Please make sure to group by name.",
    labelNames,
    registers,
  });
  for (const name of names) {
    status.set({ name }, 0);
    slowPaths.inc({ name }, 0);
  }
  return {
    leaseHeld: ({ lease, isHeld }) => {
      status.set({ name: lease }, isHeld ? 1 : 0);
    },
    leaseSlowPath: ({ lease }) => {
      slowPaths.inc({ name: lease });
    },
  };
}

/** The series `certwatcher_*`. */
export function certificateMetrics(registry: Registry): CertificateFilesObserver {
  const registers = [registry];
  const reads = new Counter({
    name: "certwatcher_read_certificate_total",
    help: "Total number of certificate reads",
    registers,
  });
  const failures = new Counter({
    name: "certwatcher_read_certificate_errors_total",
    help: "Total number of certificate read errors",
    registers,
  });
  return {
    certificateRead: () => {
      reads.inc();
    },
    certificateReadFailed: () => {
      failures.inc();
    },
  };
}
