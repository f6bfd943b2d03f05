import {
  bundle,
  clusterBundle,
  elasticsearchCluster,
  installPlan,
  openSearchCluster,
  opsterOpenSearchCluster,
  resourceManifest,
  share,
} from "@quartermaster/api";
import { clusterLicense, enterpriseLicense, licenseAssociation } from "@quartermaster/api/licensing";
import { releaseVersion } from "@quartermaster/api/release";
import type { Prerequisites, ReadStore } from "@quartermaster/runtime";
import {
  customResourceDefinitions,
  validatingAdmissionPolicies,
  validatingAdmissionPolicyBindings,
} from "@quartermaster/runtime/kinds";

import type { DomainName } from "../settings.ts";
import { installationProblems, type NeededCrd, type Needs } from "./installation-problems.ts";
import { requiredPolicies } from "./required-policies.ts";

/** What decides whether the operator may act. */
export interface InstallationCheckOptions extends Pick<Needs, "namespace" | "isClusterWide"> {
  readonly domains: readonly DomainName[];
  readonly requirePolicies: boolean;
}

/** The CRDs of the domains that run, and the admission policies. Only metadata is watched. */
export function installationCheck(options: InstallationCheckOptions): Prerequisites {
  const needs: Needs = {
    ...options,
    release: releaseVersion,
    crds: options.domains.flatMap((domain) => crdsOf[domain].map(neededCrd)),
    policies: options.requirePolicies ? requiredPolicies : [],
  };
  const policyKinds = [validatingAdmissionPolicies, validatingAdmissionPolicyBindings];
  const kinds = options.requirePolicies
    ? [customResourceDefinitions, ...policyKinds]
    : [customResourceDefinitions];
  return {
    requests: kinds.map((kind) => ({ kind, isMetadataOnly: true })),
    problemsIn: ([crds, policies, bindings]) =>
      installationProblems(needs, {
        crds: new Map(
          crds?.list().map(({ metadata: { name, labels } }) => [name, labels ?? {}] as const) ?? [],
        ),
        policies: namesIn(policies),
        bindings: namesIn(bindings),
      }),
  };
}

function namesIn(store: ReadStore | undefined): ReadonlySet<string> {
  return new Set(store?.list().map(({ metadata }) => metadata.name));
}

type OwnKind = (typeof crdsOf)[DomainName][number];

function neededCrd(resource: OwnKind): NeededCrd {
  const { plural, group } = resource.kind;
  return { name: `${plural}.${group}`, isShared: shared.has(resource) };
}

const crdsOf = {
  "install-plan": [installPlan, resourceManifest],
  subscription: [bundle, clusterBundle, share],
  licensing: [clusterLicense, enterpriseLicense, licenseAssociation],
  search: [openSearchCluster, opsterOpenSearchCluster, elasticsearchCluster],
} as const;

/** OpenShift brings Shares; the upstream operator of OpenSearch brings its clusters. */
const shared: ReadonlySet<OwnKind> = new Set<OwnKind>([share, openSearchCluster, opsterOpenSearchCluster]);
