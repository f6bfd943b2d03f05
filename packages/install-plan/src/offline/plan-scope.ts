import { fieldOf, groupOf, textOf } from "@quartermaster/runtime";

import { isCrd } from "../manifest/provided-kinds.ts";
import type { PackObject } from "./pack-objects.ts";

/** `Cluster` as soon as one object is outside the namespace. */
export function planScope(objects: readonly PackObject[], namespace: string): "Namespace" | "Cluster" {
  const wide = new Set([...clusterKinds, ...clusterKindsAmong(objects)]);
  const isOutside = objects.some(
    ({ identity }) =>
      (identity.namespace ?? namespace) !== namespace ||
      wide.has(`${groupOf(identity.apiVersion)}/${identity.kind}`),
  );
  return isOutside ? "Cluster" : "Namespace";
}

function clusterKindsAmong(objects: readonly PackObject[]): readonly string[] {
  return objects
    .filter(({ identity }) => isCrd(identity))
    .map(({ manifest }) => fieldOf(manifest, "spec"))
    .filter((spec) => textOf(spec, "scope") === "Cluster")
    .map((spec) => `${textOf(spec, "group") ?? ""}/${textOf(fieldOf(spec, "names"), "kind") ?? ""}`);
}

/** Kinds of Kubernetes itself that have no namespace. */
const clusterKinds = [
  "/Namespace",
  "/Node",
  "/PersistentVolume",
  "admissionregistration.k8s.io/MutatingAdmissionPolicy",
  "admissionregistration.k8s.io/MutatingAdmissionPolicyBinding",
  "admissionregistration.k8s.io/MutatingWebhookConfiguration",
  "admissionregistration.k8s.io/ValidatingAdmissionPolicy",
  "admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding",
  "admissionregistration.k8s.io/ValidatingWebhookConfiguration",
  "apiextensions.k8s.io/CustomResourceDefinition",
  "apiregistration.k8s.io/APIService",
  "certificates.k8s.io/CertificateSigningRequest",
  "certificates.k8s.io/ClusterTrustBundle",
  "flowcontrol.apiserver.k8s.io/FlowSchema",
  "flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration",
  "networking.k8s.io/IngressClass",
  "networking.k8s.io/IPAddress",
  "networking.k8s.io/ServiceCIDR",
  "node.k8s.io/RuntimeClass",
  "rbac.authorization.k8s.io/ClusterRole",
  "rbac.authorization.k8s.io/ClusterRoleBinding",
  "resource.k8s.io/DeviceClass",
  "scheduling.k8s.io/PriorityClass",
  "storage.k8s.io/CSIDriver",
  "storage.k8s.io/CSINode",
  "storage.k8s.io/StorageClass",
  "storage.k8s.io/VolumeAttachment",
  "storage.k8s.io/VolumeAttributesClass",
];
