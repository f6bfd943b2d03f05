import type { RequestOptions } from "node:https";

import { KubeConfig } from "@kubernetes/client-node";
import { describe, expect, test } from "vitest";

import { loadConfig } from "../../src/config/load-config.ts";
import { realSystem } from "../../src/system/real-system.ts";
import { kubeconfig } from "../support/kubeconfig.ts";
import { makeTempDirectory, type TempDirectory } from "../support/temp-directory.ts";
import { makeTestCertificate } from "../support/test-certificate.ts";

/** What counts of a configuration: where to, whom to trust, who we are. */
interface Meaning {
  readonly server: string | undefined;
  readonly ca: string | undefined;
  readonly insecure: boolean;
  readonly serverName: string | undefined;
  readonly proxyUrl: string | undefined;
  readonly authorization: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
  readonly user: string | undefined;
  readonly context: string;
}

async function ours(
  files: readonly string[],
  { context, insecureSkipTlsVerify = false }: Pick<Fixture, "context" | "insecureSkipTlsVerify"> = {},
): Promise<Meaning> {
  const system = { ...realSystem(), env: { ...process.env, KUBECONFIG: files.join(":") } };
  const config = await loadConfig({
    system,
    insecureSkipTlsVerify,
    ...(context === undefined ? {} : { context }),
  });
  const { token, basic, certificate } = await config.credentials.current();
  return {
    server: config.server,
    ca: await config.tls.cas.current(),
    insecure: config.tls.insecure,
    serverName: config.tls.serverName,
    proxyUrl: config.proxyUrl,
    authorization: token === undefined ? basic && `${basic.username}:${basic.password}` : `Bearer ${token}`,
    cert: certificate?.certPem,
    key: certificate?.keyPem,
    user: config.impersonate?.user,
    context: config.contextName,
  };
}

function loadOfficially([first = "", ...more]: readonly string[], context?: string): KubeConfig {
  const config = new KubeConfig();
  config.loadFromFile(first);
  for (const file of more) {
    const other = new KubeConfig();
    other.loadFromFile(file);
    // As kubectl and client-go: the first current-context wins.
    config.mergeConfig(other, true);
  }
  if (context !== undefined) config.setCurrentContext(context);
  return config;
}

async function official(files: readonly string[], context?: string): Promise<Meaning> {
  const config = loadOfficially(files, context);
  const options: RequestOptions = {};
  await config.applyToHTTPSOptions(options);
  const cluster = config.getCurrentCluster();
  return {
    server: cluster?.server,
    ca: text(options.ca),
    insecure: options.rejectUnauthorized === false,
    serverName: options.servername ?? undefined,
    proxyUrl: cluster?.proxyUrl,
    authorization: options.auth ?? (options.headers as Record<string, string> | undefined)?.["Authorization"],
    cert: text(options.cert),
    key: Buffer.isBuffer(options.key) ? text(options.key) : undefined,
    user: config.getCurrentUser()?.impersonateUser ?? undefined,
    context: config.getCurrentContext(),
  };
}

function text(value: RequestOptions["ca"]): string | undefined {
  if (value === undefined || value === null) return undefined;
  return Buffer.isBuffer(value) ? value.toString("utf8") : JSON.stringify(value);
}

const base64 = (plain: string): string => Buffer.from(plain).toString("base64");
const pair = makeTestCertificate("somebody");
const ca = makeTestCertificate("authority").certPem;

interface Fixture {
  readonly name: string;
  readonly make: (directory: TempDirectory) => Promise<readonly string[]>;
  readonly context?: string;
  readonly insecureSkipTlsVerify?: boolean;
}

const fixtures: readonly Fixture[] = [
  {
    name: "a token",
    make: async (directory) => [await directory.write("c", kubeconfig({ user: { token: "t" } }))],
  },
  {
    name: "inline data",
    make: async (directory) => [
      await directory.write(
        "c",
        kubeconfig({
          cluster: { "certificate-authority-data": base64(ca) },
          user: { "client-certificate-data": base64(pair.certPem), "client-key-data": base64(pair.keyPem) },
        }),
      ),
    ],
  },
  {
    name: "relative paths, from a directory of their own",
    make: async (directory) => {
      await directory.write("sub/pki/ca.crt", ca);
      await directory.write("sub/pki/me.crt", pair.certPem);
      await directory.write("sub/me.key", pair.keyPem);
      const cluster = { "certificate-authority": "pki/ca.crt" };
      const user = { "client-certificate": "./pki/me.crt", "client-key": "../sub/me.key" };
      return [await directory.write("sub/config", kubeconfig({ cluster, user }))];
    },
  },
  {
    name: "another server name, another context",
    context: "b",
    make: async (directory) => [
      await directory.write("one", kubeconfig()),
      await directory.write(
        "two",
        kubeconfig({ name: "b", cluster: { "tls-server-name": "inner" }, user: { token: "b" } }),
      ),
    ],
  },
  {
    name: "a merge: entries of both, current context of the first",
    make: async (directory) => [
      await directory.write("one", { "current-context": "b", clusters: null, contexts: [] }),
      await directory.write("two", {
        ...kubeconfig({ name: "b", user: { token: "b" } }),
        "current-context": "x",
      }),
    ],
  },
  {
    name: "no verification",
    insecureSkipTlsVerify: true,
    make: async (directory) => [
      await directory.write("c", kubeconfig({ cluster: { "insecure-skip-tls-verify": true } })),
    ],
  },
  {
    name: "a proxy",
    make: async (directory) => [
      await directory.write("c", kubeconfig({ cluster: { "proxy-url": "http://proxy.example:3128" } })),
    ],
  },
  {
    name: "impersonation of a user",
    make: async (directory) => [await directory.write("c", kubeconfig({ user: { token: "t", as: "jane" } }))],
  },
  {
    name: "user name and password",
    make: async (directory) => [
      await directory.write("c", kubeconfig({ user: { username: "u", password: "p" } })),
    ],
  },
  {
    name: "a user without credentials",
    make: async (directory) => [await directory.write("c", kubeconfig({ user: null }))],
  },
  {
    name: "a server with a path and a slash at its end",
    make: async (directory) => [
      await directory.write("c", kubeconfig({ cluster: { server: "https://h/k8s/c1/" } })),
    ],
  },
  {
    name: "an exec plugin that gives a token",
    make: async (directory) => {
      const response = {
        apiVersion: "client.authentication.k8s.io/v1",
        kind: "ExecCredential",
        status: { token: "from-plugin" },
      };
      const command = await directory.write(
        "plugin",
        `#!/bin/sh\necho '${JSON.stringify(response)}'\n`,
        0o700,
      );
      const exec = { apiVersion: "client.authentication.k8s.io/v1", command, interactiveMode: "Never" };
      return [await directory.write("c", kubeconfig({ user: { exec } }))];
    },
  },
];

describe("[runtime/RT-26] the official client understands the same by", () => {
  test.each(fixtures)("$name", async (fixture) => {
    await using directory = await makeTempDirectory();
    const files = await fixture.make(directory);
    expect(await ours(files, fixture)).toEqual(await official(files, fixture.context));
  });

  test("YAML with comments and anchors", async () => {
    await using directory = await makeTempDirectory();
    const yaml = `# written by hand
clusters:
- name: a
  cluster: &there {server: "https://h:1"}
- name: b
  cluster: *there
users: [{name: a, user: {token: abc}}]
contexts: [{name: a, context: {cluster: b, user: a}}]
current-context: a
`;
    const file = await directory.write("c", yaml);
    expect(await ours([file])).toEqual(await official([file]));
  });
});
