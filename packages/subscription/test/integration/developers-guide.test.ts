import { execFile } from "node:child_process";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

import { expect, test } from "vitest";

import { startInjection } from "../support/replica.ts";

const repository = join(import.meta.dirname, "../../../..");
const guide = join(repository, "docs/guides/bundles-developers.md");
const execute = promisify(execFile);

/** What each block of the guide prints, in the guide's order. */
const prints: readonly RegExp[] = [
  /secret\/etc-pki-entitlement created\nbundle\S* created\nbundle\S* condition met/,
  /Pod shop in namespace \S+: gets its bundles[^]*\/run\/secrets\/etc-pki-entitlement[^]*pod\/shop created/,
  /^\{"bundles":\{"subscription":1\}\}$/,
  /pod\/plain created/,
  /^$/,
];

test("[subscription-injection/AC-A2,AC-C5] the commands of the developers' guide do what it says", async () => {
  await using bench = await startInjection();
  await using stack = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), "developers-"));
  stack.defer(async () => await rm(directory, { recursive: true }));
  const qm = join(directory, "qm");
  await writeFile(
    qm,
    `#!/bin/sh\nexec ${process.execPath} ${join(repository, "apps/cli/src/main.ts")} "$@"\n`,
  );
  await chmod(qm, 0o755);
  const { kubeconfigPath } = bench.cluster;
  const env = {
    KUBECONFIG: kubeconfigPath,
    PATH: `${directory}:${join(dirname(kubeconfigPath), "bin")}:/usr/bin:/bin`,
    KUBECACHEDIR: join(directory, "cache"),
  };
  const blocks = [...(await readFile(guide, "utf8")).matchAll(/```sh\n([^]*?)```/g)].map(
    ([, block = ""]) => block,
  );
  expect(blocks).toHaveLength(prints.length);
  for (const [at, block] of blocks.entries()) {
    const here = block.replaceAll("-n shop", `-n ${bench.namespace}`);
    const { stdout } = await execute("/bin/sh", ["-e", "-c", here], { env, cwd: directory });
    expect(stdout).toMatch(prints[at] ?? /never/);
  }
});
