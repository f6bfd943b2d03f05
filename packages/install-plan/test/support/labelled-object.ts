import type { InstallPlan } from "@quartermaster/api";
import type { KubeObject } from "@quartermaster/runtime";

import type { Identity } from "../../src/model/identity.ts";
import { fieldManager, ownerLabelsFor } from "../../src/ownership/owner-labels.ts";

/** An object with the owner labels of a plan, as an apply of ours leaves it. */
export function labelledObject(plan: InstallPlan, identity: Identity): KubeObject {
  const { labels, annotations } = ownerLabelsFor({ plan, revision: 1 }, identity);
  const fields = (keys: object): object =>
    Object.fromEntries(Object.keys(keys).map((key) => [`f:${key}`, {}]));
  const metadata = { "f:labels": fields(labels), "f:annotations": fields(annotations) };
  const { apiVersion, kind, namespace = "", name } = identity;
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      namespace,
      uid: `uid-${kind}`,
      labels,
      annotations,
      managedFields: [{ manager: fieldManager, operation: "Apply", fieldsV1: { "f:metadata": metadata } }],
    },
  };
}
