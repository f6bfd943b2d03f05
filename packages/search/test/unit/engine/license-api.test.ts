import { realSystem } from "@quartermaster/runtime";
import { type EngineClient, type EngineTarget, restEngine } from "@quartermaster/search";
import { hatchCanary } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import type { LicenseResponse } from "../../../src/engine/engine-facts.ts";
import { type Reply, type HostileEngine, json, startHostileEngine } from "../../support/hostile-engine.ts";
import { codeOf } from "../../support/opensearch-contract.ts";
import { TestCa } from "../../support/test-certificates.ts";

const connect = restEngine({ system: realSystem() });
const basic = { license: { uid: "b", type: "basic", status: "active" } };

async function withClient<T>(
  engine: HostileEngine,
  use: (client: EngineClient) => Promise<T>,
  change: Partial<EngineTarget> = {},
): Promise<T> {
  const client = connect({ ...engine.target, distribution: "elasticsearch", ...change });
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}

/** Answers by method and path; anything else is 500. */
function byPath(responses: Readonly<Record<string, Reply>>): Reply {
  return (request, response) => {
    const path = `${request.method ?? ""} ${(request.url ?? "").split("?")[0] ?? ""}`;
    (responses[path] ?? json({}, 500))(request, response);
  };
}

const refusal = (type: string, reason: string): object => ({ error: { type, reason } });

test.each([
  {
    name: "[licensing/P7] 400, a type that is not allowed",
    response: json(
      refusal("illegal_argument_exception", "Registering [gold] licenses is not allowed on this cluster"),
      400,
    ),
    want: { outcome: "invalid", cause: "typeNotAllowed", messages: ["illegal_argument_exception"] },
  },
  {
    name: "[licensing/P8] 500, TLS is needed",
    response: json(
      refusal(
        "illegal_state_exception",
        "Cannot install a [GOLD] license unless TLS is configured or security is disabled",
      ),
      500,
    ),
    want: { outcome: "invalid", cause: "tlsRequired", messages: ["illegal_state_exception"] },
  },
  {
    name: "500, FIPS mode",
    response: json(
      refusal("illegal_state_exception", "Cannot install a [GOLD] license unless FIPS mode is disabled"),
      500,
    ),
    want: { outcome: "invalid", cause: "fipsMode", messages: ["illegal_state_exception"] },
  },
  {
    name: "[licensing/P3] 200, valid and not acknowledged",
    response: json({
      acknowledged: false,
      license_status: "valid",
      acknowledge: {
        message: "This license update requires acknowledgement.",
        ml: ["Machine learning will be disabled"],
      },
    }),
    want: {
      outcome: "acknowledgeRequired",
      messages: ["This license update requires acknowledgement.", "Machine learning will be disabled"],
    },
  },
  {
    name: "[licensing/P4] 200, acknowledged and invalid",
    response: json({ acknowledged: true, license_status: "invalid" }),
    want: { outcome: "invalid", messages: [] },
  },
  {
    name: "[licensing/P6] 200, acknowledged and expired",
    response: json({ acknowledged: true, license_status: "expired" }),
    want: { outcome: "expired", messages: [] },
  },
  {
    name: "200, acknowledged and valid",
    response: json({ acknowledged: true, license_status: "valid" }),
    want: { outcome: "applied", messages: [] },
  },
])("$name, in answer to PUT _license", async ({ response: reply, want }) => {
  await using engine = await startHostileEngine();
  engine.response = reply;
  const given = await withClient(
    engine,
    async (client) => await client.putLicense({}, { acknowledge: true }),
  );
  expect(given).toEqual(want);
});

test.each([
  { name: "[licensing/P9] 404 with an empty object", response: json({}, 404), want: "notFound" },
  { name: "[licensing/P11] 401", response: json({}, 401), want: "forbidden" },
  { name: "[licensing/P11] 403", response: json({}, 403), want: "forbidden" },
  { name: "a license without a uid", response: json({ license: { type: "basic" } }), want: "unreadable" },
])("$name, in answer to GET _license, is no license", async ({ response: reply, want }) => {
  await using engine = await startHostileEngine();
  engine.response = reply;
  expect(await withClient(engine, async (client) => await codeOf(client.license()))).toBe(want);
});

test("[licensing/T2] a trial that is not available is not requested", async () => {
  await using engine = await startHostileEngine();
  engine.response = byPath({
    "GET /_license/trial_status": json({ eligible_to_start_trial: false }),
    "GET /_license": json(basic),
  });
  const reply = await withClient(engine, async (client) => await client.startTrial({ acknowledge: true }));
  expect(reply).toEqual({ outcome: "refused", messages: ["Trial was already activated."] });
  expect(engine.requested).toEqual(["GET /_license/trial_status", "GET /_license"]);
});

describe.each(["trial", "basic"] as const)("an engine that is to start its %s license", (type) => {
  const start = async (client: EngineClient): Promise<LicenseResponse> =>
    type === "trial"
      ? await client.startTrial({ acknowledge: true })
      : await client.startBasic({ acknowledge: true });

  test.each([
    { name: "that it did", body: { acknowledged: true, [`${type}_was_started`]: true }, want: "applied" },
    {
      name: "that it did not, although it was acknowledged",
      body: { acknowledged: true, [`${type}_was_started`]: false, error_message: "No." },
      want: "refused",
    },
    {
      name: "that it waits to be acknowledged",
      body: { acknowledged: false, [`${type}_was_started`]: false },
      want: "acknowledgeRequired",
    },
  ])("reports $name", async ({ body, want }) => {
    await using engine = await startHostileEngine();
    engine.response = byPath({
      "GET /_license/trial_status": json({ eligible_to_start_trial: true }),
      [`POST /_license/start_${type}`]: json(body),
    });
    expect((await withClient(engine, start)).outcome).toBe(want);
  });
});

test("[licensing/B3] 403 to start_basic under basic means that it is so already", async () => {
  await using engine = await startHostileEngine();
  engine.response = byPath({
    "POST /_license/start_basic": json({ acknowledged: true, basic_was_started: false }, 403),
    "GET /_license": json(basic),
  });
  const reply = await withClient(engine, async (client) => await client.startBasic({ acknowledge: true }));
  expect(reply.outcome).toBe("alreadySo");
});

test("[security/58] an engine that another CA vouches for gets neither license nor credentials", async () => {
  await using engine = await startHostileEngine();
  const { caPem } = await TestCa.create();
  const { tls } = engine.target;
  if (tls === undefined) throw new Error("the engine has TLS");
  const change = { tls: { ...tls, caPem }, login: { username: "operator", password: "p" } };
  const code = await withClient(
    engine,
    async (client) => await codeOf(client.putLicense({ licenses: [] }, { acknowledge: true })),
    change,
  );
  expect({ code, requested: engine.requested }).toEqual({ code: "untrusted", requested: [] });
});

test("[security/58] a redirect is not followed with the license", async () => {
  await using engine = await startHostileEngine();
  await using elsewhere = await startHostileEngine();
  const [{ port } = { port: 0 }] = elsewhere.target.endpoints;
  engine.response = (_request, response) => {
    response.writeHead(307, { location: `https://127.0.0.1:${String(port)}/_license` }).end();
  };
  const code = await withClient(
    engine,
    async (client) => await codeOf(client.putLicense({}, { acknowledge: true })),
  );
  expect({ code, elsewhere: elsewhere.requested }).toEqual({ code: "unreadable", elsewhere: [] });
});

test("[security/65] an engine that quotes the file puts none of it into what is reported", async () => {
  await using engine = await startHostileEngine();
  const secret = hatchCanary();
  engine.response = json(refusal("parse_exception", `cannot read ${secret.value}`), 400);
  const reply = await withClient(
    engine,
    async (client) => await client.putLicense({ signature: secret.value }, { acknowledge: true }),
  );
  expect(secret.leaksIn(JSON.stringify(reply))).toEqual([]);
});
