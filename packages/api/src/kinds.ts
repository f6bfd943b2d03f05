import type { CustomResource } from "@quartermaster/runtime/schema";

import { installPlan } from "./install-plan/install-plan.ts";
import { resourceManifest } from "./install-plan/resource-manifest.ts";
import { clusterLicense } from "./licensing/cluster-license.ts";
import { enterpriseLicense } from "./licensing/enterprise-license.ts";
import { licenseAssociation } from "./licensing/license-association.ts";
import { elasticsearchCluster, openSearchCluster, opsterOpenSearchCluster } from "./search/search-cluster.ts";
import { bundle } from "./subscription/bundle.ts";
import { clusterBundle } from "./subscription/cluster-bundle.ts";
import { share } from "./subscription/share.ts";

/** Every kind of ours; CRDs and reference pages are generated from this list. */
export const kinds: readonly CustomResource[] = [
  installPlan,
  resourceManifest,
  bundle,
  clusterBundle,
  share,
  openSearchCluster,
  opsterOpenSearchCluster,
  elasticsearchCluster,
  clusterLicense,
  enterpriseLicense,
  licenseAssociation,
];
