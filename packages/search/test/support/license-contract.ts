import type { EngineClient } from "@quartermaster/search";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { LicenseState } from "./elasticsearch-scene.ts";
import { codeOf } from "./opensearch-contract.ts";

const yes = { acknowledge: true };
const no = { acknowledge: false };

function licenseFile(change: Readonly<Record<string, unknown>> = {}): Readonly<Record<string, unknown>> {
  const license = {
    uid: "893361dc-9749-4997-93cb-802e3d7fa4a8",
    type: "platinum",
    issue_date_in_millis: 1_700_000_000_000,
    start_date_in_millis: 1_700_000_000_000,
    expiry_date_in_millis: 1_900_000_000_000,
    max_nodes: 10,
    issued_to: "a tenant",
    issuer: "nobody",
    signature: forgedSignature(),
    ...change,
  };
  return { licenses: [license] };
}

/** The form of a signature without the vendor's key: version, magic, hash and content, each with its length. */
function forgedSignature(): string {
  const part = (length: number): Buffer => {
    const size = Buffer.alloc(4);
    size.writeInt32BE(length);
    return Buffer.concat([size, Buffer.alloc(length, 7)]);
  };
  const version = Buffer.from([0, 0, 0, 3]);
  return Buffer.concat([version, part(13), part(32), part(256)]).toString("base64");
}

/** The first start fetches the engine. */
const startLimitMs = 600_000;

/** What every EngineClient for Elasticsearch must do, in this order: one node lives through all of it. */
export function licenseContract(name: string, startScene: () => Promise<LicenseState>): void {
  describe(`${name} keeps the contract of EngineClient for Elasticsearch`, () => {
    let state: LicenseState;
    let client: EngineClient;
    const stack = new AsyncDisposableStack();

    beforeAll(async () => {
      state = await startScene();
      client = state.connect(state.target);
      stack.use(state);
      stack.defer(client.close.bind(client));
      await state.until(async () => (await codeOf(client.license())) === "ok");
    }, startLimitMs);

    afterAll(async () => {
      await stack.disposeAsync();
    });

    async function outcomes(
      calls: readonly (() => Promise<{ readonly outcome: string }>)[],
    ): Promise<readonly string[]> {
      const found: string[] = [];
      for (const call of calls) found.push((await call()).outcome);
      return found;
    }

    test("identity, members and voters are told as by OpenSearch", async () => {
      const [{ node } = { node: "" }] = state.target.endpoints;
      const identity = await client.identity(node);
      const { voters, elected, clusterUuid } = await client.coordination();
      expect(identity).toMatchObject({ node, clusterName: "contract", clusterUuid, hasVoters: true });
      expect({ voters, elected }).toEqual({ voters: [node], elected: node });
      const [member] = await client.nodes();
      expect(member).toMatchObject({ name: node, version: identity.version, isElected: true });
      expect(member?.roles).toContain("cluster_manager");
      expect(await client.isServing(node)).toBe(true);
      expect((await client.health()).nodes).toBe(1);
      const load = await client.nodeLoad();
      expect(load).toMatchObject([{ node, searchQueue: 0, writeRejections: 0 }]);
      await client.putSettings({ persistent: { "cluster.routing.allocation.enable": "primaries" } });
      expect((await client.settings()).persistent).toMatchObject({
        "cluster.routing.allocation.enable": "primaries",
      });
      expect(await client.shards()).toEqual(expect.any(Array));
    });

    test("users and roles are no API of our account's realm", async () => {
      expect(await codeOf(client.entities("roles"))).toBe("unsupported");
      expect(await codeOf(client.hasSecurityIndex())).toBe("unsupported");
    });

    test("a wrong password is forbidden", async () => {
      const stranger = state.connect({ ...state.target, login: { username: "operator", password: "wrong" } });
      expect(await codeOf(stranger.health())).toBe("forbidden");
      await stranger.close();
    });

    test("the license is basic and never expires", async () => {
      expect(await client.license()).toMatchObject({
        type: "basic",
        status: "active",
        expiryMs: undefined,
        maxNodes: 1000,
      });
    });

    test("files that are no license are invalid, whatever the status says, and change nothing", async () => {
      const { uid } = await client.license();
      const files = [
        {},
        licenseFile(),
        licenseFile({ type: undefined }),
        licenseFile({ signature: "AAAA" }),
        licenseFile({ type: "enterprise" }),
      ];
      expect(await outcomes(files.map((file) => async () => await client.putLicense(file, yes)))).toEqual(
        files.map(() => "invalid"),
      );
      expect((await client.license()).uid).toBe(uid);
    });

    test("a trial needs a yes, is started once, and is followed by basic", async () => {
      const trialTwice = [no, yes, yes].map((how) => async () => await client.startTrial(how));
      expect(await outcomes(trialTwice)).toEqual(["acknowledgeRequired", "applied", "alreadySo"]);
      const trial = await client.license();
      expect(trial).toMatchObject({ type: "trial", status: "active" });
      expect(trial.expiryMs).toBeTypeOf("number");
      const basicTwice = [no, yes, yes].map((how) => async () => await client.startBasic(how));
      expect(await outcomes(basicTwice)).toEqual(["acknowledgeRequired", "applied", "alreadySo"]);
      const { outcome, messages } = await client.startTrial(yes);
      expect(outcome).toBe("refused");
      expect(messages.join(" ")).toContain("Trial was already activated");
    });
  });
}
