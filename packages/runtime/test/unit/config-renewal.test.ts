import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import type { ClusterConfig } from "../../src/config/cluster-config.ts";
import { loadConfig } from "../../src/config/load-config.ts";
import { ConfigError } from "../../src/errors.ts";
import { VirtualSystem } from "../../src/testing/virtual-system.ts";
import { kubeconfig } from "../support/kubeconfig.ts";
import { makeTempDirectory, type TempDirectory } from "../support/temp-directory.ts";
import { makeTestCertificate } from "../support/test-certificate.ts";

const v1 = "client.authentication.k8s.io/v1";

function virtual(): VirtualSystem {
  return new VirtualSystem({ env: { PATH: process.env["PATH"], CALLER: "here" } });
}

async function load(
  directory: TempDirectory,
  system: VirtualSystem,
  content: object,
): Promise<ClusterConfig> {
  return await loadConfig({ system, kubeconfigPath: await directory.write("config", content) });
}

describe("[runtime/RT-11] credentials in files", () => {
  test("a token is read again after a minute, and immediately when the server refused it", async () => {
    await using directory = await makeTempDirectory();
    const system = virtual();
    const tokenFile = await directory.write("token", "one");
    const { credentials } = await load(directory, system, kubeconfig({ user: { tokenFile } }));
    const first = await credentials.current();
    await directory.write("token", "two");
    await system.advance(59_000);
    expect(credentials.current()).toBe(first);
    await system.advance(1_000);
    expect(await credentials.current()).toEqual({ token: "two" });
    await directory.write("token", "three");
    expect(await credentials.refresh()).toEqual({ token: "three" });
  });

  test("a file that is deleted or empty for a while leaves the last good value", async () => {
    await using directory = await makeTempDirectory();
    const system = virtual();
    const tokenFile = await directory.write("token", "one");
    const { credentials } = await load(directory, system, kubeconfig({ user: { tokenFile } }));
    await directory.write("token", "");
    expect(await credentials.refresh()).toEqual({ token: "one" });
  });

  test("a certificate is renewed only once its key has come too", async () => {
    await using directory = await makeTempDirectory();
    const system = virtual();
    const [old, fresh] = [makeTestCertificate("old"), makeTestCertificate("fresh")];
    const user = {
      "client-certificate": await directory.write("tls.crt", old.certPem),
      "client-key": await directory.write("tls.key", old.keyPem),
    };
    const { credentials } = await load(directory, system, kubeconfig({ user }));
    await directory.write("tls.crt", fresh.certPem);
    await system.advance(10_000);
    expect(await credentials.current()).toEqual({ certificate: old });
    await directory.write("tls.key", fresh.keyPem);
    await system.advance(10_000);
    expect(await credentials.current()).toEqual({ certificate: fresh });
  });
});

describe("[runtime/RT-26] exec plugins", () => {
  /** A plugin that notes each run and its input, and answers with what lies beside it. */
  async function plugin(
    directory: TempDirectory,
    response: object,
  ): Promise<Readonly<Record<string, unknown>>> {
    await directory.write("answer.json", response);
    const script = `#!/bin/sh
cd "$(dirname "$0")"
echo run >> runs
echo "$KUBERNETES_EXEC_INFO" > info
echo "$1 $GREETING $CALLER" > told
sleep 0.1
cat answer.json
`;
    await directory.write("plugin.sh", script, 0o700);
    return {
      apiVersion: v1,
      command: "./plugin.sh",
      args: ["first"],
      env: [{ name: "GREETING", value: "hi" }],
    };
  }

  const issued = (token: string, expirationTimestamp?: string): object => ({
    apiVersion: v1,
    kind: "ExecCredential",
    status: { token, expirationTimestamp },
  });

  const runs = async (directory: TempDirectory): Promise<number> =>
    (await readFile(join(directory.path, "runs"), "utf8")).trim().split("\n").length;

  test("are found relative to their file, get arguments, environment and the cluster's facts", async () => {
    await using directory = await makeTempDirectory();
    const exec = { ...(await plugin(directory, issued("t"))), provideClusterInfo: true };
    const extensions = [{ name: "client.authentication.k8s.io/exec", extension: { audience: "x" } }];
    const config = await load(
      directory,
      virtual(),
      kubeconfig({
        user: { exec },
        cluster: {
          extensions,
          "tls-server-name": "s",
          "certificate-authority": await directory.write("ca.crt", "CA"),
        },
      }),
    );
    expect(await config.credentials.current()).toEqual({ token: "t" });
    expect(JSON.parse(await readFile(join(directory.path, "info"), "utf8"))).toEqual({
      apiVersion: v1,
      kind: "ExecCredential",
      spec: {
        interactive: false,
        cluster: {
          server: "https://a.example:6443",
          "tls-server-name": "s",
          "certificate-authority-data": "Q0E=",
          config: { audience: "x" },
        },
      },
    });
    expect(await readFile(join(directory.path, "told"), "utf8")).toBe("first hi here\n");
  });

  test("run once for all who ask at the same time, and again shortly before the end", async () => {
    await using directory = await makeTempDirectory();
    const system = virtual();
    const end = new Date(system.wallMs() + 600_000).toISOString();
    const exec = await plugin(directory, issued("one", end));
    const { credentials } = await load(directory, system, kubeconfig({ user: { exec } }));
    await Promise.all(Array.from({ length: 10 }, async () => await credentials.current()));
    await credentials.refresh();
    expect(await runs(directory)).toBe(1);
    system.block(539_000);
    expect(credentials.current()).toEqual({ token: "one" });
    await directory.write("answer.json", issued("two"));
    system.block(2_000);
    expect(await credentials.current()).toEqual({ token: "two" });
    expect(await runs(directory)).toBe(2);
  });

  test("that fail before the end leave what still holds; after it they are an error", async () => {
    await using directory = await makeTempDirectory();
    const system = virtual();
    const exec = await plugin(directory, issued("one", new Date(system.wallMs() + 600_000).toISOString()));
    const { credentials } = await load(directory, system, kubeconfig({ user: { exec } }));
    await credentials.current();
    await directory.write("plugin.sh", "#!/bin/sh\nexit 7\n", 0o700);
    system.block(590_000);
    expect(await credentials.current()).toEqual({ token: "one" });
    system.block(20_000);
    await expect(credentials.current()).rejects.toThrow("credential plugin failed (7)");
  });

  test("that hang before the end hold no one up, and those that fail are left alone for a while", async () => {
    await using directory = await makeTempDirectory();
    const system = virtual();
    const exec = await plugin(directory, issued("one", new Date(system.wallMs() + 600_000).toISOString()));
    const { credentials } = await load(directory, system, kubeconfig({ user: { exec } }));
    await credentials.current();
    await directory.write("plugin.sh", "#!/bin/sh\necho run >> $(dirname $0)/runs\nsleep 1\nexit 7\n", 0o700);
    system.block(550_000);
    const first = credentials.current();
    expect(await credentials.current()).toEqual({ token: "one" });
    await system.advance(5_000);
    expect(await first).toEqual({ token: "one" });
    await expect(credentials.refresh()).rejects.toThrow("credential plugin failed (7)");
    for (let requested = 0; requested < 10; requested += 1)
      expect(await credentials.current()).toEqual({ token: "one" });
    expect(await runs(directory)).toBe(2);
  });

  const broken = [
    {
      name: "is not there",
      command: "./none",
      output: "",
      want: "credential plugin failed (ENOENT): install it",
    },
    { name: "says nothing", command: "./answer.sh", output: "", want: "gave no ExecCredential" },
    {
      name: "answers in another version",
      command: "./answer.sh",
      output: JSON.stringify({ ...issued("t"), apiVersion: `${v1}beta1` }),
      want: "gave no ExecCredential",
    },
    {
      name: "gives no credential",
      command: "./answer.sh",
      output: JSON.stringify({ ...issued("t"), status: {} }),
      want: "gave no ExecCredential",
    },
  ];
  test.each(broken)("one that $name is named with file and field", async ({ command, output, want }) => {
    await using directory = await makeTempDirectory();
    await directory.write("answer.sh", `#!/bin/sh\necho '${output}'\n`, 0o700);
    const exec = { apiVersion: v1, command, args: ["--password=canary"], installHint: "install it" };
    const { credentials } = await load(directory, virtual(), kubeconfig({ user: { exec } }));
    const problem: unknown = await credentials.refresh().catch((reason: unknown) => reason);
    expect(problem).toBeInstanceOf(ConfigError);
    expect(problem).toMatchObject({ code: "credentialPluginFailed", field: "users[0].user.exec.command" });
    expect(String(problem)).toContain(want);
    expect(`${String(problem)}${JSON.stringify(problem)}`).not.toContain("canary");
  });
});
