import type { KubeObject } from "@quartermaster/runtime";
import { aConfigMap, aDeployment, aJob } from "@quartermaster/testkit";

/** The annotation that opens a gate; see `gated`. */
export const goAnnotation = "go";

/** A resource of a stage that holds the object itself. */
export function inline(object: object, more: object = {}): object {
  return { manifest: object, ...more };
}

/** A ConfigMap as a resource of a stage. */
export function configMap(
  name: string,
  data: Readonly<Record<string, string>> = { a: "1" },
  more: object = {},
): object {
  return inline(aConfigMap({ name, data }), more);
}

/** A Deployment as a resource of a stage. */
export function deployment(name: string, more: object = {}): object {
  return inline(aDeployment({ name }), more);
}

/** A job of a stage whose pod ends as told on kwok nodes. */
export function job(
  name: string,
  outcome: "complete" | "fail" | "run" = "complete",
  more: object = {},
): object {
  return { name, template: aJob({ name, outcome }).spec, ...more };
}

/** A ConfigMap that is ready only once another client annotates it with `go: yes`. */
export function gated(name: string): object {
  const checks = [{ fieldEquals: { path: `/metadata/annotations/${goAnnotation}`, value: "yes" } }];
  return configMap(name, { a: "1" }, { readiness: { mode: "Checks", checks } });
}

/** A Deployment for which no node will do. */
export function unschedulable(name: string): object {
  const labels = { app: name };
  const spec = {
    nodeSelector: { nowhere: "true" },
    containers: [{ name: "main", image: "nowhere.invalid/a:1" }],
  };
  return {
    manifest: {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name },
      spec: { replicas: 1, selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
    },
  };
}

/** A claim that no volume will ever meet. */
export function aClaim(name: string, namespace?: string): KubeObject {
  const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
  const metadata = { name, ...(namespace === undefined ? {} : { namespace }) };
  const claim = { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata, spec };
  return claim;
}
