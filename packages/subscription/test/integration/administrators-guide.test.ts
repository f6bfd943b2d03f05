import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

import { clusterBundle, share } from "@quartermaster/api";
import { clusterRoles, namespaces } from "@quartermaster/runtime/kinds";
import { eventually } from "@quartermaster/testkit";
import { expect, test } from "vitest";

import { type BundleBench, ownLabel, removing, setUpBench } from "../support/bench.ts";

const guide = join(import.meta.dirname, "../../../../docs/guides/bundles-administrators.md");
const execute = promisify(execFile);

/** What each block of the guide prints, in the guide's order. */
const prints: readonly RegExp[] = [
  /secret\/etc-pki-entitlement created\nclusterbundle\S* created\nclusterbundle\S* condition met/,
  /rhel +True +Settled +rhel-subscription-entitlement[^]*rhel-subscription-bundle/,
  /rolebinding\S* created/,
  /labeled/,
  /deleted/,
];

test("[subscription-injection/AC-F1] [subscription-injection/AC-F10] the commands of the administrators' guide do what it says", async () => {
  await using bench = await setUpBench();
  const { client, cluster } = bench;
  await using stack = new AsyncDisposableStack();
  for (const name of ["entitlements", "shop"]) stack.use(removing(client, namespaces, { name }));
  stack.use(removing(client, clusterBundle.kind, { name: "rhel" }));
  const directory = dirname(cluster.kubeconfigPath);
  const env = {
    KUBECONFIG: cluster.kubeconfigPath,
    PATH: `${join(directory, "bin")}:/usr/bin:/bin`,
    KUBECACHEDIR: join(directory, "cache-of-guide"),
  };
  const blocks = [...readFileSync(guide, "utf8").matchAll(/```sh\n([^]*?)```/g)].map(
    ([, block = ""]) => block,
  );
  expect(blocks).toHaveLength(prints.length);
  for (const [at, block] of blocks.entries()) {
    const { stdout } = await execute("/bin/sh", ["-e", "-c", ownedBy(bench, block)], { env });
    expect(stdout).toMatch(prints[at] ?? /never/);
  }
  await eventually(
    async () =>
      (await client.find(share.kind, { name: "rhel-subscription-entitlement" })) === undefined &&
      (await client.find(clusterRoles, { name: "rhel-subscription-bundle" })) === undefined,
    { withinMs: 60_000 },
  );
});

/** With the label by which the controllers of this test know their ClusterBundles. */
function ownedBy({ namespace }: BundleBench, block: string): string {
  return block.replace("  name: rhel\n", `  name: rhel\n  labels: { ${ownLabel}: ${namespace} }\n`);
}
