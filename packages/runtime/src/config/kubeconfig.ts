import * as z from "zod";

/** A list that may be missing or null, as kubectl writes it. */
function listOf<T extends z.ZodType>(entry: T): z.ZodType<readonly z.output<T>[]> {
  return z
    .array(entry)
    .nullish()
    .transform((list) => list ?? []);
}

const text = z.string().optional();

const clusterSchema = z.object({
  server: z.string().min(1),
  "certificate-authority": text,
  "certificate-authority-data": text,
  "tls-server-name": text,
  "insecure-skip-tls-verify": z.boolean().optional(),
  "proxy-url": text,
  extensions: listOf(z.object({ name: z.string(), extension: z.unknown() })),
});

const execSchema = z.object({
  apiVersion: z.enum(["client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"]),
  command: z.string().min(1),
  args: listOf(z.string()),
  env: listOf(z.object({ name: z.string().min(1), value: z.string() })),
  installHint: text,
  provideClusterInfo: z.boolean().default(false),
  interactiveMode: z.enum(["Never", "IfAvailable", "Always"]).optional(),
});

const userSchema = z.object({
  token: text,
  tokenFile: text,
  username: text,
  password: text,
  "client-certificate": text,
  "client-certificate-data": text,
  "client-key": text,
  "client-key-data": text,
  as: text,
  "as-uid": text,
  "as-groups": listOf(z.string()),
  "as-user-extra": z.record(z.string(), z.array(z.string())).nullish(),
  exec: execSchema.nullish(),
  "auth-provider": z.unknown().optional(),
});

const contextSchema = z.object({ cluster: z.string().min(1), user: text, namespace: text });

/** A kubeconfig file, as far as it says how to reach a cluster. Fields we do not know are left alone. */
export const kubeconfigSchema = z.object({
  clusters: listOf(z.object({ name: z.string().min(1), cluster: clusterSchema })),
  users: listOf(z.object({ name: z.string().min(1), user: userSchema.nullish() })),
  contexts: listOf(z.object({ name: z.string().min(1), context: contextSchema })),
  "current-context": z.string().nullish(),
});

/** What one file says. */
export type Kubeconfig = z.output<typeof kubeconfigSchema>;

/** Where a cluster is. */
export type ClusterEntry = z.output<typeof clusterSchema>;

/** Who somebody is. */
export type UserEntry = z.output<typeof userSchema>;

/** A program that gives credentials. */
export type ExecEntry = z.output<typeof execSchema>;

/** A cluster and a user together. */
export type ContextEntry = z.output<typeof contextSchema>;
