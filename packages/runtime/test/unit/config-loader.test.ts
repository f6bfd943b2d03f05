import { describe, expect, test } from "vitest";

import type { ClusterConfig } from "../../src/config/cluster-config.ts";
import { loadConfig } from "../../src/config/load-config.ts";
import { ConfigError } from "../../src/errors.ts";
import { realSystem } from "../../src/system/real-system.ts";
import type { System } from "../../src/system/system.ts";
import { kubeconfig, type KubeconfigOptions } from "../support/kubeconfig.ts";
import { makeTempDirectory, type TempDirectory } from "../support/temp-directory.ts";
import { makeTestCertificate } from "../support/test-certificate.ts";

const base64 = (plain: string): string => Buffer.from(plain).toString("base64");
const { certPem, keyPem } = makeTestCertificate("somebody");

function systemWith(env: Readonly<Record<string, string>>): System {
  return { ...realSystem(), env };
}

async function load(directory: TempDirectory, content: string | object): Promise<ClusterConfig> {
  const kubeconfigPath = await directory.write("config", content);
  return await loadConfig({ system: systemWith({}), kubeconfigPath });
}

async function problemOf(promise: Promise<unknown>): Promise<ConfigError> {
  const error: unknown = await promise.catch((reason: unknown) => reason);
  if (error instanceof ConfigError) return error;
  throw new Error("no ConfigError came", { cause: error });
}

describe("[runtime/RT-26] a broken file gives an error that names file and field", () => {
  const invalid = (field: string): object => ({ code: "configInvalid", field });
  const user = (fields: NonNullable<KubeconfigOptions["user"]>): object =>
    kubeconfig({ user: { ...fields } });
  const exec = { apiVersion: "client.authentication.k8s.io/v1", command: "x" };
  const rows = [
    { name: "no YAML", given: "clusters: [", want: { code: "configNotYaml" } },
    { name: "an alias bomb", given: bomb(), want: { code: "configNotYaml" } },
    { name: "duplicate keys", given: "clusters: []\nclusters: []", want: { code: "configNotYaml" } },
    { name: "a list", given: "[]", want: { code: "configInvalid", field: undefined } },
    { name: "nothing in it", given: "", want: { code: "configMissingEntry", field: "current-context" } },
    {
      name: "no server",
      given: kubeconfig({ cluster: { server: undefined } }),
      want: invalid("clusters[0].cluster.server"),
    },
    {
      name: "a server that is no URL",
      given: kubeconfig({ cluster: { server: "there" } }),
      want: invalid("clusters[0].cluster.server"),
    },
    {
      name: "a proxy that is no proxy",
      given: kubeconfig({ cluster: { "proxy-url": "ftp://x" } }),
      want: invalid("clusters[0].cluster.proxy-url"),
    },
    {
      name: "a CA that is no base64",
      given: kubeconfig({ cluster: { "certificate-authority-data": "%%" } }),
      want: invalid("clusters[0].cluster.certificate-authority-data"),
    },
    {
      name: "a CA file that is not there",
      given: kubeconfig({ cluster: { "certificate-authority": "none.crt" } }),
      want: { code: "configUnreadable", field: "clusters[0].cluster.certificate-authority" },
    },
    {
      name: "a token that is a number",
      given: user({ token: 12_345 }),
      want: invalid("users[0].user.token"),
    },
    {
      name: "a token file that is not there",
      given: user({ tokenFile: "none" }),
      want: { code: "configUnreadable", field: "users[0].user.tokenFile" },
    },
    {
      name: "a certificate without its key",
      given: user({ "client-certificate-data": base64(certPem) }),
      want: invalid("users[0].user.client-key"),
    },
    { name: "groups without a user", given: user({ "as-groups": ["g"] }), want: invalid("users[0].user.as") },
    {
      name: "an auth provider",
      given: user({ "auth-provider": { name: "gcp" } }),
      want: { code: "configUnsupported", field: "users[0].user.auth-provider" },
    },
    {
      name: "a plugin of an old version",
      given: user({ exec: { ...exec, apiVersion: "client.authentication.k8s.io/v1alpha1" } }),
      want: invalid("users[0].user.exec.apiVersion"),
    },
    {
      name: "a plugin without command",
      given: user({ exec: { ...exec, command: "" } }),
      want: invalid("users[0].user.exec.command"),
    },
    {
      name: "a plugin that wants a terminal",
      given: user({ exec: { ...exec, interactiveMode: "Always" } }),
      want: { field: "users[0].user.exec.interactiveMode" },
    },
    {
      name: "[security/102] no verification, which no one requested",
      given: kubeconfig({ cluster: { "insecure-skip-tls-verify": true } }),
      want: { code: "configInsecure", field: "clusters[0].cluster.insecure-skip-tls-verify" },
    },
    ...(["token", "tokenFile", "password"] as const).map((name) => ({
      name: `[security/102] a ${name} that would go over http:`,
      given: kubeconfig({
        cluster: { server: "http://127.0.0.1:8001" },
        user: { username: "u", [name]: "x" },
      }),
      want: { code: "configInsecure", field: `users[0].user.${name}` },
    })),
    {
      name: "a context without cluster",
      given: kubeconfig({ context: { cluster: "z" } }),
      want: { code: "configMissingEntry", field: "contexts[0].context.cluster" },
    },
    {
      name: "a context with an unknown user",
      given: kubeconfig({ context: { user: "z" } }),
      want: { code: "configMissingEntry", field: "contexts[0].context.user" },
    },
    {
      name: "an unknown current context",
      given: { ...kubeconfig(), "current-context": "z" },
      want: { code: "configMissingEntry", field: "contexts" },
    },
  ];
  test.each(rows)("$name", async ({ given, want }) => {
    await using directory = await makeTempDirectory();
    const problem = await problemOf(load(directory, given));
    expect(problem).toMatchObject(want);
    expect(problem.message).toContain(directory.path);
  });

  test("[security/102] no verification is accepted when it is requested", async () => {
    await using directory = await makeTempDirectory();
    const content = kubeconfig({ cluster: { "insecure-skip-tls-verify": true } });
    const kubeconfigPath = await directory.write("config", content);
    const config = await loadConfig({ system: systemWith({}), kubeconfigPath, insecureSkipTlsVerify: true });
    expect(config.tls.insecure).toBe(true);
  });

  test("[security/102] a proxy on http: needs no credential", async () => {
    await using directory = await makeTempDirectory();
    const content = kubeconfig({ cluster: { server: "http://127.0.0.1:8001" }, user: {} });
    expect((await load(directory, content)).server).toBe("http://127.0.0.1:8001");
  });

  test("a file that was requested and is not there", async () => {
    const problem = await problemOf(
      loadConfig({ system: systemWith({}), kubeconfigPath: "/nowhere/config" }),
    );
    expect(problem).toMatchObject({ code: "configNotFound", file: "/nowhere/config" });
  });

  test("[runtime/RT-31] a broken line with a token in it is not quoted", async () => {
    await using directory = await makeTempDirectory();
    const problem = await problemOf(load(directory, "users:\n- name: a\n  user: {token: canary-token, {\n"));
    expect(`${problem.message} ${JSON.stringify(problem)} ${String(problem.stack)}`).not.toContain("canary");
    expect(problem.message).toMatch(/in line 4$/);
  });

  function bomb(): string {
    const levels = Array.from({ length: 9 }, (_, level) => {
      const what = level === 0 ? '"x"' : `*l${level - 1}`;
      return `l${level}: &l${level} [${Array.from({ length: 9 }, () => what).join(", ")}]`;
    });
    return levels.join("\n");
  }
});

describe("[runtime/RT-26] kubectl's way where the official JavaScript client has another", () => {
  test("of two entries with one name the first wins, and files that are missing do not matter", async () => {
    await using directory = await makeTempDirectory();
    const first = await directory.write("one", kubeconfig({ user: { token: "first" } }));
    const second = await directory.write(
      "two",
      kubeconfig({ user: { token: "second" }, cluster: { server: "https://other" } }),
    );
    const KUBECONFIG = `${directory.path}/none:${first}::${second}`;
    const config = await loadConfig({ system: systemWith({ KUBECONFIG }) });
    expect([config.server, await config.credentials.current()]).toEqual([
      "https://a.example:6443",
      { token: "first" },
    ]);
  });

  test("inline data wins over a file", async () => {
    await using directory = await makeTempDirectory();
    const cluster = { "certificate-authority": "none.crt", "certificate-authority-data": base64(certPem) };
    const config = await load(directory, kubeconfig({ cluster }));
    expect(await config.tls.cas.current()).toBe(certPem);
  });

  test("tokenFile is relative to its kubeconfig and wins over a token", async () => {
    await using directory = await makeTempDirectory();
    await directory.write("sub/token", " from-file\n");
    const config = await load(directory, kubeconfig({ user: { token: "inline", tokenFile: "sub/token" } }));
    expect(await config.credentials.current()).toEqual({ token: "from-file" });
  });

  test("entries that no context leads to may be half-made or outdated, and fields may be null", async () => {
    await using directory = await makeTempDirectory();
    const file = kubeconfig({ user: { token: "t", tokenFile: null } });
    const { clusters, contexts, users } = file as Readonly<Record<string, readonly object[]>>;
    const old = { apiVersion: "client.authentication.k8s.io/v1alpha1", command: "aws" };
    const config = await load(directory, {
      ...file,
      clusters: [...(clusters ?? []), { name: "half", cluster: { "insecure-skip-tls-verify": true } }],
      contexts: [
        ...(contexts ?? []),
        { name: "empty", context: { cluster: "", user: "" } },
        { name: "none" },
      ],
      users: [...(users ?? []), { name: "old", user: { exec: old } }],
    });
    expect(await config.credentials.current()).toEqual({ token: "t" });
    expect(config.tls.insecure).toBe(false);
  });

  test.each([undefined, null, ""])("a namespace of %o is the default one", async (namespace) => {
    await using directory = await makeTempDirectory();
    expect((await load(directory, kubeconfig({ context: { namespace } }))).namespace).toBe("default");
  });

  test("impersonation has groups, uid and extra", async () => {
    await using directory = await makeTempDirectory();
    const user = { as: "u", "as-groups": ["g"], "as-uid": "1", "as-user-extra": { k: ["v"] } };
    const config = await load(directory, kubeconfig({ user, context: { namespace: "n" } }));
    expect(config.impersonate).toEqual({ user: "u", groups: ["g"], uid: "1", extra: { k: ["v"] } });
    expect(config.namespace).toBe("n");
  });
});

describe("where the configuration is looked for", () => {
  test("below HOME when nothing else is said", async () => {
    await using directory = await makeTempDirectory();
    await directory.write(".kube/config", kubeconfig({ name: "home" }));
    expect((await loadConfig({ system: systemWith({ HOME: directory.path }) })).contextName).toBe("home");
  });

  test("in the pod when there is no file", async () => {
    await using directory = await makeTempDirectory();
    await directory.write("token", "t\n");
    await directory.write("ca.crt", certPem);
    await directory.write("namespace", "mine");
    const env = { KUBERNETES_SERVICE_HOST: "fd00::1", KUBERNETES_SERVICE_PORT: "443", HOME: directory.path };
    const config = await loadConfig({ system: systemWith(env), serviceAccountDirectory: directory.path });
    expect(config).toMatchObject({
      server: "https://[fd00::1]:443",
      namespace: "mine",
      contextName: "in-cluster",
    });
    expect([await config.credentials.current(), await config.tls.cas.current()]).toEqual([
      { token: "t" },
      certPem,
    ]);
  });

  test("in a pod whose volume names no namespace it is the default one", async () => {
    await using directory = await makeTempDirectory();
    await directory.write("token", "t");
    await directory.write("ca.crt", certPem);
    const env = { KUBERNETES_SERVICE_HOST: "10.0.0.1", KUBERNETES_SERVICE_PORT: "443" };
    const config = await loadConfig({ system: systemWith(env), serviceAccountDirectory: directory.path });
    expect(config).toMatchObject({ server: "https://10.0.0.1:443", namespace: "default" });
  });

  test("nowhere else", async () => {
    expect((await problemOf(loadConfig({ system: systemWith({}) }))).code).toBe("configNotFound");
  });

  test("a certificate and key that do not belong together are refused", async () => {
    await using directory = await makeTempDirectory();
    const user = {
      "client-certificate-data": base64(certPem),
      "client-key-data": base64(makeTestCertificate("x").keyPem),
    };
    expect((await problemOf(load(directory, kubeconfig({ user })))).message).toContain("do not match");
    const good = await load(directory, kubeconfig({ user: { ...user, "client-key-data": base64(keyPem) } }));
    expect(await good.credentials.current()).toEqual({ certificate: { certPem, keyPem } });
  });
});
