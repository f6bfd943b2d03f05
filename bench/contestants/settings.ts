import * as z from "zod";

/** What a contestant is reported by the benchmark, as its first argument in JSON. */
export interface Settings {
  readonly server: string;
  readonly caPem: string;
  readonly token: string;
  readonly kubeconfigPath: string;
  /** Where the files of a service account are, to find the cluster as a pod does; empty to use the kubeconfig. */
  readonly serviceAccountDirectory: string;
  /** Where certificates and recordings lie. */
  readonly directory: string;
  readonly namespace: string;
  /** How many requests, objects or events. */
  readonly count: number;
  /** Plural of the kind that is listed; `copies` or `pods`. */
  readonly plural: string;
}

/** Reads the settings that this process was started with. */
export function readSettings(): Settings {
  return schema.parse(JSON.parse(process.argv[2] ?? "{}"));
}

const schema = z.object({
  server: z.string(),
  caPem: z.string(),
  token: z.string(),
  kubeconfigPath: z.string(),
  serviceAccountDirectory: z.string(),
  directory: z.string(),
  namespace: z.string(),
  count: z.number(),
  plural: z.string(),
});
