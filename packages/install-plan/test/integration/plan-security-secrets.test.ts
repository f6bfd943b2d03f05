import { aSecret, type Canary, eventually, hatchCanary } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { keepLog } from "../support/kept-log.ts";
import { secrets } from "../support/kinds.ts";
import { configMap, gated, inline } from "../support/manifests.ts";
import { reference, storeAs } from "../support/stored.ts";
import { registerWebhook } from "../support/webhook.ts";
import { setUpWorkbench, type Workbench } from "../support/workbench.ts";

/** Everything that the operator told anybody about the plan. */
async function reportedAbout(bench: Workbench, name: string, log: string): Promise<string> {
  const { status } = await bench.read(name);
  return [JSON.stringify(status), JSON.stringify(await bench.events(name)), log].join("\n");
}

function secretWith(canary: Canary, more: object = {}): ReturnType<typeof aSecret> {
  return { ...aSecret({ name: "hidden", values: { token: canary.value } }), ...more };
}

describe("values of Secrets", () => {
  test.each([
    { name: "of a wrong type", more: { type: "kubernetes.io/tls" } },
    { name: "with a key that is none", more: (value: string) => ({ stringData: { "a key": value } }) },
    {
      name: "with data that is not base64",
      more: (value: string) => ({ stringData: {}, data: { token: value } }),
    },
    {
      name: "with the value in a label",
      more: (value: string) => ({ metadata: { name: "hidden", labels: { a: value } } }),
    },
    { name: "with the value for a flag", more: (value: string) => ({ immutable: value }) },
    { name: "with the value as a field", more: (value: string) => ({ [value]: "x" }) },
  ])("[install-plan/122] [security/21] an invalid Secret $name leaks nothing", async ({ more }) => {
    await using bench = await setUpWorkbench({ isOperating: false });
    const kept = keepLog();
    await bench.operate({ log: kept.log });
    const canary = hatchCanary();
    const fields = typeof more === "function" ? more(canary.value) : more;
    const secret = secretWith(canary, fields);
    await storeAs(bench, "packed", secret);
    await bench.create(bench.plan("p", [{ name: "s", resources: [reference(secret, "packed")] }]));
    const { status } = await bench.inPhase("p", "Invalid");
    expect(status?.message).toContain("hidden");
    expect(canary.leaksIn(await reportedAbout(bench, "p", kept.text()))).toEqual([]);
  });

  test("[install-plan/122] [security/21] a Secret that a later stage cannot write leaks nothing", async () => {
    await using bench = await setUpWorkbench({ isOperating: false });
    const kept = keepLog();
    await bench.operate({ log: kept.log });
    const canary = hatchCanary();
    const stages = [
      { name: "a", resources: [gated("gate")] },
      { name: "b", resources: [inline(secretWith(canary))] },
    ];
    await bench.create(bench.plan("p", stages));
    await bench.until("p", ({ states }) => states?.[0] === "P");
    const quota = { hard: { "count/secrets": "0" } };
    await bench.client.raw({
      method: "POST",
      path: `/api/v1/namespaces/${bench.namespace}/resourcequotas`,
      body: { apiVersion: "v1", kind: "ResourceQuota", metadata: { name: "none" }, spec: quota },
    });
    await eventually(async () =>
      JSON.stringify(
        await bench.client.raw({
          method: "GET",
          path: `/api/v1/namespaces/${bench.namespace}/resourcequotas/none`,
        }),
      ).includes('"used"'),
    );
    await bench.openGate("gate");
    await bench.inPhase("p", "Failed");
    expect(canary.leaksIn(await reportedAbout(bench, "p", kept.text()))).toEqual([]);
  });

  test("[security/21] a change of a Secret is reported by its path", async () => {
    await using bench = await setUpWorkbench({ isOperating: false });
    const kept = keepLog();
    await bench.operate({ log: kept.log });
    const [ours, theirs] = [hatchCanary(), hatchCanary()];
    await bench.create(bench.plan("p", [{ name: "s", resources: [inline(secretWith(ours))] }]));
    await bench.installed("p");
    const ref = { namespace: bench.namespace, name: "hidden" };
    const body = { stringData: { token: theirs.value } };
    await bench.client.patch(secrets, ref, { patch: { kind: "merge", body }, fieldManager: "kubectl-edit" });
    const event = await eventually(async () =>
      (await bench.events("p")).find(({ reason }) => reason === "Reverted"),
    );
    expect(event.note).toContain("/data/token");
    const reported = await reportedAbout(bench, "p", kept.text());
    expect([...ours.leaksIn(reported), ...theirs.leaksIn(reported)]).toEqual([]);
  });

  test("a webhook's words about another kind are passed on", async () => {
    await using bench = await setUpWorkbench();
    await using webhook = await registerWebhook(bench, () => ({
      kind: "deny",
      message: "ask the owner first",
    }));
    await webhook.listen();
    await bench.create(bench.plan("p", [{ name: "s", resources: [configMap("c")] }]));
    expect((await bench.inPhase("p", "Invalid")).status?.message).toContain("ask the owner first");
  });
});
