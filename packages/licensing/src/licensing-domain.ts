import { elasticsearchCluster } from "@quartermaster/api";
import { clusterLicense, enterpriseLicense, licenseAssociation } from "@quartermaster/api/licensing";
import type { Domain } from "@quartermaster/runtime";

import { associationController } from "./association/association-controller.ts";
import { bindingController } from "./binding/binding-controller.ts";
import { clusterLicenseController } from "./cluster-license/cluster-license-controller.ts";
import { licensingMetrics } from "./licensing-metrics.ts";
import { licensingPermissions } from "./licensing-permissions.ts";
import { type LicensingSettings, licensingSettings } from "./licensing-settings.ts";
import { enterpriseLicenseController } from "./pool/enterprise-license-controller.ts";

/**
 * Licensing as a part of an operator: ClusterLicense, EnterpriseLicense and LicenseAssociation. It has no credentials of engines:
 * the search domain applies what it chooses.
 *
 * @example
 * await run({ name: "quartermaster", domains: [searchDomain(), licensingDomain()] });
 */
export function licensingDomain(settings: LicensingSettings = licensingSettings): Domain {
  return {
    name: "licensing",
    grantedBy: "config/rbac-limited/optional/licensing.yaml",
    permissions: licensingPermissions,
    controllers: ({ system, concurrency, namespace, series, stored }) => {
      licensingMetrics(series, {
        clusters: () => stored({ kind: elasticsearchCluster.kind, namespace }),
        licenses: () => stored({ kind: clusterLicense.kind, namespace }),
        pool: () => stored({ kind: enterpriseLicense.kind }),
        associations: () => stored({ kind: licenseAssociation.kind, namespace }),
      });
      const options = { settings, system, concurrency, namespace };
      return [
        enterpriseLicenseController(options),
        bindingController(options),
        associationController(options),
        clusterLicenseController(options),
      ];
    },
  };
}
