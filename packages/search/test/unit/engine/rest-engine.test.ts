import { once } from "node:events";
import { connect as connectTcp, createServer } from "node:net";

import { realSystem } from "@quartermaster/runtime";
import { VirtualSystem } from "@quartermaster/runtime/testing";
import { type EngineClient, EngineError, type EngineTarget, restEngine } from "@quartermaster/search";
import { eventually, hatchCanary } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import {
  type Reply,
  greenHealth,
  type HostileEngine,
  json,
  startHostileEngine,
} from "../../support/hostile-engine.ts";
import { TestCa } from "../../support/test-certificates.ts";

const connect = restEngine({ system: realSystem() });

async function failureOf(work: Promise<unknown>): Promise<EngineError> {
  const error = await work.then(
    () => undefined,
    (cause: unknown) => cause,
  );
  if (error instanceof EngineError) return error;
  throw new Error("the call did not fail with an EngineError", { cause: error });
}

async function withClient<T>(target: EngineTarget, use: (client: EngineClient) => Promise<T>): Promise<T> {
  const client = connect(target);
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}

describe("a hostile engine", () => {
  const nested = `${'{"a":'.repeat(200)}1${"}".repeat(200)}`;
  const cases: readonly { name: string; response: Reply; code: string; status?: number }[] = [
    {
      name: "a huge answer",
      response: (_request, response) => {
        response.writeHead(200, { "content-type": "application/json" });
        const chunk = Buffer.alloc(1024 * 1024, 0x20);
        const pour = (): void => {
          while (!response.destroyed && response.write(chunk));
          if (!response.destroyed) response.once("drain", pour);
        };
        pour();
      },
      code: "unreadable",
    },
    {
      name: "a deeply nested answer",
      response: (_request, response) => {
        response.writeHead(200, { "content-type": "application/json" }).end(nested);
      },
      code: "unreadable",
      status: 200,
    },
    {
      name: "a redirect",
      response: (_request, response) => {
        response.writeHead(302, { location: "http://169.254.169.254/latest" }).end();
      },
      code: "unreadable",
      status: 302,
    },
    {
      name: "a page of HTML with status 200",
      response: (_request, response) => {
        response.writeHead(200, { "content-type": "text/html" }).end("<html></html>");
      },
      code: "unreadable",
      status: 200,
    },
    { name: "an empty object", response: json({}), code: "unreadable" },
    {
      name: "a health of an unknown colour",
      response: json({ ...greenHealth, status: "blue" }),
      code: "unreadable",
    },
    {
      name: "a negative number of nodes",
      response: json({ ...greenHealth, number_of_nodes: -1 }),
      code: "unreadable",
    },
    { name: "401", response: json({}, 401), code: "forbidden", status: 401 },
    { name: "429", response: json({}, 429), code: "unavailable", status: 429 },
    { name: "503", response: json({}, 503), code: "unavailable", status: 503 },
    {
      name: "a broken connection",
      response: (request) => {
        request.socket.destroy();
      },
      code: "unreachable",
    },
    {
      name: "Elasticsearch's expired license",
      response: json(
        { error: { root_cause: [{ "license.expired.feature": "monitoring" }], type: "security_exception" } },
        403,
      ),
      code: "licenseExpired",
      status: 403,
    },
  ];

  test.each(cases)(
    "[security/76] $name is an error and no fact",
    async ({ response: reply, code, status }) => {
      await using engine = await startHostileEngine();
      engine.response = reply;
      const error = await withClient(engine.target, async (client) => await failureOf(client.health()));
      expect({ code: error.code, status: error.status }).toEqual({ code, status });
    },
  );

  test("[security/76] words of the engine reach an error on one short line without control characters", async () => {
    await using engine = await startHostileEngine();
    const reason = `\u001b[31mred\u001b[0m\r\nlevel=error msg=forged ${"x".repeat(10_000)}`;
    engine.response = json({ error: { type: "illegal_argument_exception", reason } }, 400);
    const error = await withClient(engine.target, async (client) => await failureOf(client.health()));
    // oxlint-disable-next-line no-control-regex -- control characters are what it is about
    expect(error.message).not.toMatch(/[\u0000-\u001f]/);
    expect(error.message).toContain("illegal_argument_exception");
    expect(error.message.length).toBeLessThan(500);
  });

  test("[security/76] a response that drips for ever ends after 30 s", async () => {
    await using engine = await startHostileEngine();
    engine.response = (_request, response) => {
      response.writeHead(200, { "content-type": "application/json" }).write("{");
    };
    const system = new VirtualSystem();
    const client = restEngine({ system })(engine.target);
    const failed = failureOf(client.health());
    await eventually(() => engine.requested.length > 0);
    await system.advance(30_000);
    const { code } = await failed;
    await client.close();
    expect({ code, timers: system.pendingTimers }).toEqual({ code: "timeout", timers: 0 });
  });
});

describe("trust", () => {
  test("an engine whose certificate another CA signed sees no request", async () => {
    await using engine = await startHostileEngine();
    const { caPem } = await TestCa.create();
    const error = await withClient(
      withTls(engine, { caPem }),
      async (client) => await failureOf(client.health()),
    );
    expect({ code: error.code, mayHaveActed: error.mayHaveActed, requested: engine.requested }).toEqual({
      code: "untrusted",
      mayHaveActed: false,
      requested: [],
    });
  });

  test("a certificate of our CA for another name sees no request", async () => {
    await using engine = await startHostileEngine({ dnsNames: ["other.team-b.svc"] });
    const error = await withClient(engine.target, async (client) => await failureOf(client.health()));
    expect({ code: error.code, requested: engine.requested }).toEqual({ code: "untrusted", requested: [] });
  });

  test("a certificate for another name is trusted where that name will do, or where it is one that nodes have mounted; never without its CA", async () => {
    await using engine = await startHostileEngine({ dnsNames: ["search.example.com"] });
    engine.response = json(greenHealth);
    const { fingerprint } = await withClient(
      engine.target,
      async (client) => await client.servedCertificate("os-a-0"),
    );
    const { caPem } = await TestCa.create();
    const query = async (change: Parameters<typeof withTls>[1]): Promise<string> =>
      await withClient(withTls(engine, change), async (client) => {
        try {
          return (await client.health()).status ?? "";
        } catch (error) {
          return error instanceof EngineError ? error.code : String(error);
        }
      });
    const outcomes = [
      await query({ otherName: "search.example.com" }),
      await query({ mountedCertificates: [fingerprint] }),
      await query({ otherName: "other.example.com", mountedCertificates: ["00"] }),
      await query({ otherName: "search.example.com", mountedCertificates: [fingerprint], caPem }),
    ];
    expect(outcomes).toEqual(["green", "green", "untrusted", "untrusted"]);
  });

  test("without a CA nothing is trusted, not even what the machine trusts", async () => {
    await using engine = await startHostileEngine();
    const target = withTls(engine, { caPem: "" });
    const error = await withClient(target, async (client) => await failureOf(client.health()));
    expect({ code: error.code, requested: engine.requested }).toEqual({ code: "untrusted", requested: [] });
  });

  test("an address that is not in the certificate is trusted by the service's name", async () => {
    await using engine = await startHostileEngine();
    engine.response = json(greenHealth);
    const health = await withClient(engine.target, async (client) => await client.health());
    expect(health.status).toBe("green");
  });

  test("the certificate that is served is told even when it is not trusted, and no request is sent", async () => {
    await using engine = await startHostileEngine();
    const { caPem } = await TestCa.create();
    const facts = await withClient(
      withTls(engine, { caPem }),
      async (client) => await client.servedCertificate("os-a-0"),
    );
    expect({ subject: facts.subject.commonName, requested: engine.requested }).toEqual({
      subject: "os-a-0",
      requested: [],
    });
  });

  function withTls(
    { target }: HostileEngine,
    change: Partial<NonNullable<EngineTarget["tls"]>>,
  ): EngineTarget {
    if (target.tls === undefined) throw new Error("the engine has TLS");
    return { ...target, tls: { ...target.tls, ...change } };
  }
});

describe("several nodes", () => {
  interface TwoNodes extends AsyncDisposable {
    readonly first: HostileEngine;
    readonly second: HostileEngine;
    readonly target: EngineTarget;
  }

  async function twoNodes(): Promise<TwoNodes> {
    const ca = await TestCa.create();
    const first = await startHostileEngine({ node: "os-a-0", ca });
    const second = await startHostileEngine({ node: "os-a-1", ca });
    const endpoints = [...first.target.endpoints, ...second.target.endpoints];
    const stop = async (): Promise<void> => {
      await Promise.all([first[Symbol.asyncDispose](), second[Symbol.asyncDispose]()]);
    };
    return { first, second, target: { ...first.target, endpoints }, [Symbol.asyncDispose]: stop };
  }

  test("a read continues to the next node when one has no fact, and stays there", async () => {
    await using nodes = await twoNodes();
    const { first, second, target } = nodes;
    first.response = json({ error: { type: "cluster_manager_not_discovered_exception" } }, 503);
    second.response = json(greenHealth);
    await withClient(target, async (client) => {
      await client.health();
      await client.health();
    });
    expect([first.requested.length, second.requested.length]).toEqual([1, 2]);
  });

  test("a write that a node may have acted on is sent to no other", async () => {
    await using nodes = await twoNodes();
    const { first, second, target } = nodes;
    first.response = (request) => {
      request.socket.destroy();
    };
    const error = await withClient(target, async (client) => await failureOf(client.putSettings({})));
    expect({ code: error.code, mayHaveActed: error.mayHaveActed, second: second.requested }).toEqual({
      code: "unreachable",
      mayHaveActed: true,
      second: [],
    });
  });

  test("a write goes to the next node when the first cannot be reached", async () => {
    await using nodes = await twoNodes();
    const { first, second, target } = nodes;
    await first[Symbol.asyncDispose]();
    second.response = json({ acknowledged: true });
    await withClient(target, async (client) => {
      await client.putSettings({ transient: { "cluster.routing.allocation.enable": "primaries" } });
    });
    expect(second.requested).toHaveLength(1);
  });

  test("a refusal is not retried elsewhere", async () => {
    await using nodes = await twoNodes();
    const { first, second, target } = nodes;
    first.response = json({}, 403);
    const error = await withClient(target, async (client) => await failureOf(client.health()));
    expect({ code: error.code, second: second.requested }).toEqual({ code: "forbidden", second: [] });
  });

  test("a node that is no pod of the cluster is never dialled", async () => {
    await using nodes = await twoNodes();
    const { first, second, target } = nodes;
    const error = await withClient(
      target,
      async (client) => await failureOf(client.identity("evil.example")),
    );
    expect({ code: error.code, requested: [...first.requested, ...second.requested] }).toEqual({
      code: "unreachable",
      requested: [],
    });
  });
});

test("pods are reached through the dial that is given, and still verified under the service's name", async () => {
  await using engine = await startHostileEngine();
  engine.response = json(greenHealth);
  const [{ port } = { port: 0 }] = engine.target.endpoints;
  const dialled: string[] = [];
  const through = restEngine({
    system: realSystem(),
    dial: async ({ node, host }) => {
      dialled.push(`${node} ${host}`);
      const socket = connectTcp({ host: "127.0.0.1", port });
      await once(socket, "connect");
      return socket;
    },
  });
  const endpoints = [{ node: "os-a-0", host: "10.255.255.1", port: 9200 }];
  const client = through({ ...engine.target, endpoints });
  const health = await client.health();
  await client.close();
  expect({ status: health.status, dialled }).toEqual({ status: "green", dialled: ["os-a-0 10.255.255.1"] });
});

test("a connection that no one answers ends in time", async () => {
  const silent = createServer();
  const { promise, resolve } = Promise.withResolvers<undefined>();
  silent.listen(0, "127.0.0.1", () => {
    resolve(undefined);
  });
  await promise;
  const address = silent.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  await using engine = await startHostileEngine();
  const system = new VirtualSystem();
  const endpoints = [{ node: "os-a-0", host: "127.0.0.1", port }];
  const client = restEngine({ system })({ ...engine.target, endpoints });
  const failed = failureOf(client.health());
  const isDialled = Promise.withResolvers<undefined>();
  silent.once("connection", () => {
    isDialled.resolve(undefined);
  });
  await isDialled.promise;
  await system.advance(10_000);
  const { code, mayHaveActed } = await failed;
  await client.close();
  silent.close();
  expect({ code, mayHaveActed }).toEqual({ code: "timeout", mayHaveActed: false });
});

test("a hostile echo puts no credential into errors, causes or stacks", async () => {
  const password = hatchCanary();
  const login = { username: "operator", password: password.value };
  await using engine = await startHostileEngine({ login });
  engine.response = (request, response) => {
    const header = request.headers.authorization ?? "";
    const plain = Buffer.from(header.slice(6), "base64").toString();
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const reason = `${header} ${plain} ${plain.slice(9)} ${Buffer.concat(chunks).toString()}`;
      const body = JSON.stringify({ error: { type: "parse_exception", reason }, message: reason });
      response
        .writeHead(request.method === "GET" ? 404 : 400, { "content-type": "application/json" })
        .end(body);
    });
  };
  const secret = hatchCanary();
  const errors = await withClient(engine.target, async (client) => [
    await failureOf(client.health()),
    await failureOf(client.putEntity("internalusers", "admin", { password: secret.value })),
    await failureOf(
      client.initSecurity({
        config: {},
        roles: {},
        rolesmapping: {},
        internalusers: { admin: { hash: secret.value } },
        actiongroups: {},
        tenants: {},
      }),
    ),
  ]);
  const reported = errors
    .map((error) => `${error.message} ${error.stack ?? ""} ${JSON.stringify(error)}`)
    .join("\n");
  expect(reported).toContain("parse_exception");
  expect([password.leaksIn(reported), secret.leaksIn(reported)]).toEqual([[], []]);
});

test.each(["", ".", "..", "\ud800", "x".repeat(600)])(
  "the name %j of an entity reaches no path",
  async (name) => {
    await using engine = await startHostileEngine();
    const error = await withClient(
      engine.target,
      async (client) => await failureOf(client.putEntity("roles", name, {})),
    );
    expect({ code: error.code, requested: engine.requested }).toEqual({ code: "invalid", requested: [] });
  },
);

test("a name with slashes and questions stays one segment of the path", async () => {
  await using engine = await startHostileEngine();
  engine.response = json({}, 404);
  await withClient(engine.target, async (client) => {
    await client.deleteEntity("roles", "../ssl?x=1#y");
  });
  expect(engine.requested).toEqual(["GET /_plugins/_security/api/roles/..%2Fssl%3Fx%3D1%23y"]);
});

describe("[security/106] whether security is initialized", () => {
  const types = ["config", "internalusers", "roles", "rolesmapping", "actiongroups", "tenants"];
  const docs = (of: (type: string) => object): object => ({ docs: types.map(of) });
  const error = (type: string): object => ({ error: { type, reason: "-" } });
  const cases: readonly [string, object, boolean | string][] = [
    ["every document is there", docs((_id) => ({ _id, found: true })), true],
    ["one is missing", docs((_id) => ({ _id, found: _id !== "tenants" })), false],
    ["there is no index", docs((_id) => ({ _id, ...error("index_not_found_exception") })), false],
    [
      "a shard is not assigned",
      docs((_id) => ({ _id, ...error("no_shard_available_action_exception") })),
      "unavailable",
    ],
    ["an answer about fewer documents", { docs: [{ _id: "config", found: true }] }, "unreadable"],
    ["an answer of something else", {}, "unreadable"],
  ];
  test.for(cases)("%s", async ([, reply, want]) => {
    await using engine = await startHostileEngine();
    engine.response = json(reply);
    const got = await withClient(engine.target, async (client) =>
      typeof want === "boolean"
        ? await client.hasSecurityIndex()
        : (await failureOf(client.hasSecurityIndex())).code,
    );
    expect(got).toBe(want);
  });
});
