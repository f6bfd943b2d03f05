import type { OwnPermission } from "@quartermaster/runtime";

const reading = { role: "controllers", isNamespaced: false, verbs: ["list", "watch"] } as const;

/** What the check of the installation reads. */
export const installationPermissions: readonly OwnPermission[] = [
  {
    ...reading,
    reason:
      "Whether our kinds are there in a version that this operator understands, and which operator they belong to. Only metadata is read.",
    apiGroups: ["apiextensions.k8s.io"],
    resources: ["customresourcedefinitions"],
  },
  {
    ...reading,
    reason:
      "Whether the admission policies are there, without which tenants forge authors and statuses. Only metadata is read.",
    apiGroups: ["admissionregistration.k8s.io"],
    resources: ["validatingadmissionpolicies", "validatingadmissionpolicybindings"],
  },
];
