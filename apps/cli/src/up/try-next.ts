import { join } from "node:path";

import { repository } from "./repository.ts";

/** The plan that `make up` applies. */
export const sample: { readonly file: string; readonly namespace: string; readonly plan: string } = {
  file: join(repository, "config/samples/greeting.yaml"),
  namespace: "greeting",
  plan: "greeting-1",
};

/** The pod that `make up` gives entitlements to. */
export const entitled: {
  readonly file: string;
  readonly namespace: string;
  readonly pod: string;
  readonly folder: string;
} = {
  file: join(repository, "config/samples/entitled.yaml"),
  namespace: "entitled",
  pod: "entitled",
  folder: "/run/secrets/etc-pki-entitlement",
};

/** The last words of `make up`. A test runs each command. */
export const tryNext = `
Try next, with KUBECONFIG and PATH set as above:

  change an object and see it come back
    kubectl -n greeting scale deployment greeting --replicas=5
    kubectl -n greeting get deployment greeting

  delete one and see it made again
    kubectl -n greeting delete service greeting
    kubectl -n greeting get service greeting

  replace the plan by another, without a gap
    kubectl apply -f config/samples/replace.yaml
    npx qm plan status greeting-2 -n greeting --watch

  delete the plan and all that it installed
    kubectl -n greeting delete installplan greeting-2
    kubectl -n greeting get configmap,deployment,service
`;
