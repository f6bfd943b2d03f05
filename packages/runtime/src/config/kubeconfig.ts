import * as z from "zod";

/** A list that may be missing or null, as kubectl writes it. */
function listOf<T extends z.ZodType>(entry: T): z.ZodType<readonly z.output<T>[]> {
  return z
    .array(entry)
    .nullish()
    .transform((list) => list ?? []);
}

/** A field that may be missing or null: `namespace:` with nothing behind it is no namespace. */
const text = z
  .string()
  .nullish()
  .transform((given) => given ?? undefined);

const flag = z
  .boolean()
  .nullish()
  .transform((given) => given ?? undefined);

/** How an entry of `clusters` looks. */
export const clusterSchema = z.object({
  server: z.string().min(1),
  "certificate-authority": text,
  "certificate-authority-data": text,
  "tls-server-name": text,
  "insecure-skip-tls-verify": flag,
  "proxy-url": text,
  extensions: listOf(z.object({ name: z.string(), extension: z.unknown() })),
});

const execSchema = z.object({
  apiVersion: z.enum(["client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"]),
  command: z.string().min(1),
  args: listOf(z.string()),
  env: listOf(z.object({ name: z.string().min(1), value: z.string() })),
  installHint: text,
  provideClusterInfo: flag,
  interactiveMode: z.enum(["Never", "IfAvailable", "Always"]).nullish(),
});

/** How an entry of `users` looks. */
export const userSchema = z.object({
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

/** How an entry of `contexts` looks. */
export const contextSchema = z.object({ cluster: z.string().min(1), user: text, namespace: text });

/**
 * A kubeconfig file, as far as it says how to reach a cluster. Fields we do not know are left alone, and so are entries until
 * a context leads to them: files gather half-made and outdated ones, and kubectl works with them too.
 */
export const kubeconfigSchema = z.object({
  clusters: listOf(z.object({ name: z.string(), cluster: z.unknown().optional() })),
  users: listOf(z.object({ name: z.string(), user: z.unknown().optional() })),
  contexts: listOf(z.object({ name: z.string(), context: z.unknown().optional() })),
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
