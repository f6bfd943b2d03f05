import { isAbsolute } from "node:path";
import { parseArgs } from "node:util";

import { z } from "zod";

/** The driver's settings. docs/reference/share-driver.md lists flags and environment. */
export interface Settings {
  /** Name of the node, as kubelet registered it. */
  readonly nodeName: string;
  /** kubelet's `--root-dir`. */
  readonly kubeletDirectory: string;
  /** Serves /metrics, /healthz and /readyz; 0 takes any free port. */
  readonly metricsPort: number;
  readonly logLevel: "debug" | "info" | "warn" | "error";
  /** Default: the pod's own cluster. */
  readonly kubeconfigPath?: string | undefined;
}

/** A flag or variable that cannot be used, with what would do. */
export class SettingsError extends Error {
  override readonly name = "SettingsError";
  readonly code = "invalidSettings";
}

/** Each flag with the variable that replaces it. Flags win. */
const variables = {
  "node-name": "QM_NODE_NAME",
  "kubelet-dir": "QM_KUBELET_DIR",
  "metrics-port": "QM_METRICS_PORT",
  "log-level": "QM_LOG_LEVEL",
  kubeconfig: "QM_KUBECONFIG",
} as const;

const shape = z.object({
  "node-name": z.string("required flag --node-name not set").min(1),
  "kubelet-dir": z
    .string()
    .refine((path) => isAbsolute(path) && !path.endsWith("/"), "--kubelet-dir: not an absolute path")
    .default("/var/lib/kubelet"),
  "metrics-port": z.coerce.number("--metrics-port: not a number").int().min(0).max(65_535).default(8080),
  "log-level": z
    .enum(["debug", "info", "warn", "error"], "--log-level: debug, info, warn or error")
    .default("info"),
  kubeconfig: z.string().optional(),
});

/** Reads flags and environment. Throws a SettingsError. */
export function readSettings(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Settings {
  const options = Object.fromEntries(
    Object.keys(variables).map((flag) => [flag, { type: "string" as const }]),
  );
  const given = Object.fromEntries(
    Object.entries(variables).flatMap(([flag, variable]) =>
      env[variable] === undefined ? [] : [[flag, env[variable]]],
    ),
  );
  const parsed = shape.safeParse({ ...given, ...flagsOf(args, options) });
  if (!parsed.success) throw new SettingsError(parsed.error.issues[0]?.message ?? "invalid settings");
  const { kubeconfig, ...rest } = parsed.data;
  return {
    nodeName: rest["node-name"],
    kubeletDirectory: rest["kubelet-dir"],
    metricsPort: rest["metrics-port"],
    logLevel: rest["log-level"],
    kubeconfigPath: kubeconfig,
  };
}

function flagsOf(
  args: readonly string[],
  options: Readonly<Record<string, { readonly type: "string" }>>,
): Readonly<Record<string, unknown>> {
  try {
    return parseArgs({ args: [...args], options }).values;
  } catch (error) {
    throw new SettingsError(error instanceof Error ? error.message : "unknown flag", { cause: error });
  }
}

/** Name of the CSIDriver object, of the volumes' `driver`, and of the plugin's directory. */
export const DRIVER_NAME = "projected-resource.storage.openshift.io";
