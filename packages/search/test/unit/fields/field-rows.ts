import type { JsonObject } from "@quartermaster/runtime";

/** One field: the value that an author writes, where it is seen, and what is seen there that was not there before. */
export interface FieldEffect {
  readonly path: string;
  readonly to: unknown;
  /** Kind and name of an object, or a part of what is rendered. */
  readonly of: string;
  readonly has: unknown;
  /** What the field needs besides, by path. */
  readonly given?: Readonly<Record<string, unknown>>;
}

/** A field, as a row. */
export type Row = readonly [
  path: string,
  to: unknown,
  of: string,
  has: unknown,
  given?: FieldEffect["given"],
];

export const set = "StatefulSet logs-nodes";
export const config = "ConfigMap logs-nodes-config";
export const client = "Service logs";
export const ui = "Deployment logs-dashboards";
export const exporter = "Deployment logs-exporter";
export const uiOn = { "dashboards.enable": true };
export const uiTls = { ...uiOn, "dashboards.tls.enable": true };
export const grpcOn = { "general.version": "3.2.0", "general.grpc.enable": true };
export const watched = { "general.monitoring.enable": true };
export const operated = { ...watched, "general.monitoring.stack.mode": "Operator" };
export const balanced = { "general.service.type": "LoadBalancer" };
export const scaled = {
  "nodePools[].roles": ["data"],
  "nodePools[].autoscaling": {
    mode: "Auto",
    minReplicas: 1,
    maxReplicas: 3,
    metrics: [{ type: "Cpu", target: 50 }],
  },
};

/** A line of a file of settings. */
export function line(text: string): RegExp {
  return new RegExp(`(?:^|\\n)${text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)}\\n`);
}

/** A reference. */
export const named = (name: string): JsonObject => ({ name });
