/** The group of the three kinds and of ElasticsearchCluster. */
export const LICENSING_GROUP = "elasticsearch.k8s.elastic.co";

/** Type of the Secrets that hold signatures. Secrets of any other type are never read as a signature. */
export const SIGNATURE_SECRET_TYPE = "license.k8s.elastic.co/signature";

/** Label of a cluster: the only type of license that it is to run under. */
export const DESIRED_LICENSE_LABEL = "k8s.elastic.co/desired-license";

/** Annotation of a cluster: `"true"` permits a lower type, or basic, while its license is still valid. */
export const ALLOW_DOWNGRADE_ANNOTATION = "license.k8s.elastic.co/allow-downgrade";

/** Annotation of a cluster: `Keep` (default) or `RevertToBasic` once its license no longer exists. */
export const ON_LICENSE_LOSS_ANNOTATION = "license.k8s.elastic.co/on-license-loss";

/** Label of what the license controller makes in the namespace of a cluster; the value is the cluster's name. */
export const LICENSED_CLUSTER_LABEL = "license.k8s.elastic.co/cluster";

/** Reserved key of a signature Secret: maxNodes of a license whose spec does not say it. Never taken for a signature. */
export const MAX_NODES_KEY = "maxNodes";

/** Reserved key of the Secret that `qm license import` makes: fields of the vendor's file that the kinds do not have, for `export`. */
export const LICENSE_REMAINDER_KEY = "remainder";

/** Key of the envelope's own signature in the Secret of an EnterpriseLicense; nested ones are under their uid. */
export const OUTER_SIGNATURE_KEY = "outer";

/** Names that the license controller and the search domain agree on, all in the namespace of the cluster. */
export interface LicenseNames {
  /** A ClusterLicense that a user made for this cluster alone: it works without the license controller. */
  readonly direct: string;
  /** The ClusterLicense that the license controller copies from the pool, and its signature Secret. */
  readonly pool: string;
  /** The LicenseAssociation of the license controller. */
  readonly association: string;
}

/** Names of what belongs to a cluster. */
export function licenseNames(cluster: string): LicenseNames {
  return { direct: cluster, pool: `${cluster}-pool`, association: `${cluster}-license` };
}
