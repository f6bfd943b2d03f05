import { realSystem } from "@quartermaster/runtime";
import { type EngineClient, EngineError, type EngineTarget, restEngine } from "@quartermaster/search";
import { describe, expect, test } from "vitest";

import { serviceName } from "../../support/engine-scene.ts";
import { type Reply, greenHealth, json, startHostileEngine } from "../../support/hostile-engine.ts";
import { TestCa } from "../../support/test-certificates.ts";

const connect = restEngine({ system: realSystem() });
const ca = await TestCa.create();
const other = await TestCa.create();
const certificate = {
  subject: { commonName: "os-a-0" },
  usages: ["server"],
  dnsNames: [serviceName],
} as const;

const read = async (client: EngineClient): Promise<unknown> => (await client.health()).status;
const write = async (client: EngineClient): Promise<unknown> => {
  await client.putSettings({ persistent: { a: "1" } });
  return "written";
};
const calls = { read, write };
const whole = { ...greenHealth, acknowledged: true };

/** The call's value, or its error as `code, may have acted`. */
async function outcomeOf(client: EngineClient, call: keyof typeof calls): Promise<unknown> {
  try {
    return await calls[call](client);
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    return `${error.code}, ${error.mayHaveActed ? "may have acted" : "not sent"}`;
  }
}

async function withClient<T>(target: EngineTarget, use: (client: EngineClient) => Promise<T>): Promise<T> {
  const client = connect(target);
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}

const untrusted = [
  { name: "expired", issued: await ca.issue(certificate, 0.5) },
  { name: "for another name", issued: await ca.issue({ ...certificate, dnsNames: ["other.team-b.svc"] }) },
  { name: "of another CA", issued: await other.issue(certificate) },
  { name: "of a client", issued: await ca.issue({ ...certificate, usages: ["client"] }) },
];
const rows = untrusted.flatMap((row) => (["read", "write"] as const).map((call) => ({ ...row, call })));

describe("[faults/P4] what an engine proves of itself and asks of us may change at any time", () => {
  test.each(rows)("[faults/P4] a certificate $name: a $call is not sent", async ({ issued, call }) => {
    await using engine = await startHostileEngine({ ca });
    engine.serve(issued);
    engine.response = json(whole);
    const end = await withClient(engine.target, async (client) => await outcomeOf(client, call));
    expect(end).toBe("untrusted, not sent");
    expect(engine.requested).toEqual([]);
  });

  test.each(["read", "write"] as const)(
    "[faults/P4] rotated in the middle of a %s: that one ends well, and what the next connection serves is verified again",
    async (call) => {
      await using engine = await startHostileEngine({ ca });
      await withClient(engine.target, async (client) => {
        engine.response = respondAfter(async () => {
          engine.serve(await ca.issue(certificate));
        });
        expect(await outcomeOf(client, call)).toBe(call === "read" ? "green" : "written");
        engine.response = json(whole);
        expect(await outcomeOf(client, call)).not.toContain("untrusted");
      });
      engine.response = respondAfter(async () => {
        engine.serve(await other.issue(certificate));
      });
      await withClient(engine.target, async (client) => {
        expect(await outcomeOf(client, call)).toBe(call === "read" ? "green" : "written");
        // The connection that was verified ends with its response; another one is not trusted.
        const requests = engine.requested.length;
        expect(await outcomeOf(client, call)).toBe("untrusted, not sent");
        expect(engine.requested).toHaveLength(requests);
      });
    },
  );

  test.each(["read", "write"] as const)(
    "[faults/P4] 401 after the password was rotated: a %s is refused and not sent to another node, and the new password is enough",
    async (call) => {
      const login = (password: string): EngineTarget["login"] => ({ username: "operator", password });
      await using first = await startHostileEngine({ ca });
      await using second = await startHostileEngine({ node: "os-a-1", ca });
      const accepted = `Basic ${Buffer.from("operator:new").toString("base64")}`;
      for (const engine of [first, second])
        engine.response = (request, response) => {
          const isKnown = request.headers.authorization === accepted;
          json(isKnown ? whole : {}, isKnown ? 200 : 401)(request, response);
        };
      const endpoints = [...first.target.endpoints, ...second.target.endpoints];
      const target = { ...first.target, endpoints };
      const refused = await withClient(
        { ...target, login: login("old") },
        async (client) => await outcomeOf(client, call),
      );
      expect(refused).toMatch(/^forbidden/);
      expect([first.requested.length, second.requested.length]).toEqual([1, 0]);
      const end = await withClient(
        { ...target, login: login("new") },
        async (client) => await outcomeOf(client, call),
      );
      expect(end).toBe(call === "read" ? "green" : "written");
    },
  );
});

/** Response to a request for which something else has to happen first; closes the connection with it. */
function respondAfter(act: () => Promise<void>): Reply {
  return (request, response) => {
    response.setHeader("connection", "close");
    const respond = async (): Promise<void> => {
      await act();
      json(whole)(request, response);
    };
    void respond();
  };
}
