import type { KubeObject } from "@quartermaster/runtime";

import type { Copy } from "../contestants/kinds.ts";

const text = { type: "string" };

/** The definition of the kind that contestants manage. */
export const copyDefinition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "copies.bench.example.org" },
  spec: {
    group: "bench.example.org",
    scope: "Namespaced",
    names: { kind: "Copy", plural: "copies" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: { spec: { type: "object", properties: { text, load: text } } },
          },
        },
      },
    ],
  },
} as const;

/** Custom resources of about 1 KB on the wire, managedFields included. */
export function someCopies(namespace: string, count: number): readonly Copy[] {
  return Array.from({ length: count }, (_, serial) => ({
    apiVersion: "bench.example.org/v1",
    kind: "Copy",
    metadata: {
      name: `copy-${serial}`,
      namespace,
      labels: { "app.kubernetes.io/part-of": "bench", "bench.example.org/shard": String(serial % 16) },
    },
    spec: { text: `text of ${serial}`, load: `${serial}-`.padEnd(350, "x") },
  }));
}

/** Pods of about 9 KB on the wire, as real ones are. No scheduler minds them, so that no one changes them. */
export function somePods(namespace: string, count: number): readonly KubeObject[] {
  return Array.from({ length: count }, (_, serial) => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: `pod-${serial}`,
      namespace,
      labels: { app: `app-${serial % 100}`, "pod-template-hash": "6d4cf56db6" },
    },
    spec: {
      schedulerName: "nobody",
      terminationGracePeriodSeconds: 30,
      containers: ["main", "sidecar", "exporter"].map((name) => aContainer(name, serial)),
      tolerations: [{ key: "node.kubernetes.io/not-ready", operator: "Exists", effect: "NoExecute" }],
    },
  }));
}

function aContainer(name: string, serial: number): object {
  const probe = { httpGet: { path: "/healthz", port: 8080 }, periodSeconds: 10, timeoutSeconds: 3 };
  return {
    name,
    image: `registry.example.org/team/${name}:v1.${serial % 20}.0`,
    args: [`--name=${name}-${serial}`, "--log-level=info", "--metrics-bind-address=:8081"],
    env: Array.from({ length: 12 }, (_, index) => ({
      name: `SETTING_${index}`,
      value: `value-${index}-of-${serial}`,
    })),
    resources: { requests: { cpu: "100m", memory: "128Mi" }, limits: { memory: "256Mi" } },
    livenessProbe: probe,
    readinessProbe: probe,
    ports: [{ name: "metrics", containerPort: 8081 }],
  };
}
