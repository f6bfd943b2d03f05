/** The release that this code belongs to. Charts, images, npm packages and CRDs have the same one. */
export const releaseVersion = "0.0.0";

/** Label of our CRDs: the release whose schema they have. The operator compares it with its own. */
export const apiVersionLabel = "quartermaster.dev/api-version";

/** Label of our CRDs: namespace of the operator that serves them. One operator serves the whole cluster. */
export const operatorNamespaceLabel = "quartermaster.dev/operator-namespace";
