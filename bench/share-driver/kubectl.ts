import type { LocalCluster } from "@quartermaster/local-cluster";

/** Runs kubectl as the administrator; what is not text goes in as JSON. Throws when it fails. */
export async function kubectl(
  cluster: LocalCluster,
  args: readonly string[],
  input?: unknown,
): Promise<string> {
  const text = typeof input === "string" ? input : JSON.stringify(input);
  const { code, stdout, stderr } = await cluster.kubectl(args, { input: text });
  if (code !== 0) throw new Error(`kubectl ${args.join(" ")}: ${stderr}`);
  return stdout;
}

/** Applies the objects. */
export async function apply(cluster: LocalCluster, items: readonly object[]): Promise<void> {
  const list = { apiVersion: "v1", kind: "List", items };
  await kubectl(cluster, ["apply", "--server-side", "-f", "-"], list);
}
