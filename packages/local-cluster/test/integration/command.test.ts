import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

import { afterAll, expect, test } from "vitest";

import { eventually } from "./eventually.ts";
import { processesMentioning } from "./processes.ts";

const repository = join(import.meta.dirname, "../../../..");
const main = join(repository, "packages/local-cluster/src/command/main.ts");
const name = `command-${process.pid}`;
const up = ["up", "--profile", "control-plane", "--apply", "config/samples/hello.yaml"];
const run = promisify(execFile);

/** Runs the program as a user would, on a cluster of the test's own. */
async function command(...text: readonly string[]): Promise<string> {
  const { stdout } = await run(process.execPath, [main, ...text, "--name", name], { cwd: repository });
  return stdout;
}

afterAll(async () => {
  await command("down");
});

test(
  "up starts a cluster, applies the sample and says where to look; a second one finds it running",
  { timeout: 180_000 },
  async () => {
    const output = await command(...up);
    expect(output).toMatch(/Kubernetes v1\.\d+\.\d+ is ready after [\d.]+ s, profile control-plane/);
    expect(output).toContain("deployment.apps/hello serverside-applied");
    const kubeconfig = /export KUBECONFIG=(\S+)/.exec(output)?.[1] ?? "";
    const bin = /export PATH=([^:]+):/.exec(output)?.[1] ?? "";
    const kubectl = async (...args: readonly string[]): Promise<string> =>
      (
        await run(join(bin, "kubectl"), args, {
          env: { KUBECONFIG: kubeconfig, HOME: join(kubeconfig, "..") },
        })
      ).stdout;
    let last = "";
    await eventually(
      async () => {
        last = await kubectl("get", "deployment/hello", "job/greet", "-o", "jsonpath={.items[*].status}");
        return last.includes('"readyReplicas":2') && last.includes('"succeeded":1') ? true : undefined;
      },
      () => last,
    );
    expect(await kubectl("get", "--raw", "/readyz")).toBe("ok");

    expect(await command(...up)).toContain(`cluster ${name} is running already`);
    expect(await command("status")).toMatch(/kube-apiserver +\d+ +\d+ MB/);

    expect(await command("down")).toContain("nothing of it is left");
    expect(existsSync(join(kubeconfig, ".."))).toBe(false);
    expect(processesMentioning(join(kubeconfig, ".."))).toEqual([]);
  },
);

test("a command that is not understood is answered by one sentence and exit code 2", async () => {
  const refused: unknown = await run(process.execPath, [main, "up", "--nodes", "none"]).catch(
    (error: unknown) => error,
  );
  expect(refused).toMatchObject({ code: 2, stdout: "" });
  expect(refused).toHaveProperty(
    "stderr",
    "--nodes none must be a whole number from 1 to 9. `local-cluster help` lists the commands and flags.\n",
  );
});
