import { existsSync } from "node:fs";
import { dirname } from "node:path";

import { hasRealNodes } from "@quartermaster/testkit";
import { afterAll, describe, expect, test } from "vitest";

import { follow, typeLine } from "../support/guide.ts";

const name = `up-nodes-${process.pid}`;

describe.runIf(hasRealNodes())("make up on a real node", () => {
  afterAll(async () => {
    await typeLine(`make down ARGS="--name ${name}"`, {});
  });

  test("the web server of the sample answers, a second plan takes over, and nothing is left", async () => {
    const { said } = await typeLine(`make up ARGS="--name ${name} --profile nodes"`, {});
    expect(said).toMatch(/profile nodes\n[^]*greeting-1 {2}Installed[^]*job ask {2}Succeeded[^]*Try next/);
    expect(said).toMatch(
      /Pod entitled\/entitled has the files of its Bundle[^]*entitlement-key\.pem[^]*entitlement\.pem/,
    );
    const kubeconfig = /export KUBECONFIG=(\S+)/.exec(said)?.[1] ?? "";
    const bin = /export PATH=([^:]+):/.exec(said)?.[1] ?? "";
    const env = {
      KUBECONFIG: kubeconfig,
      PATH: `${bin}:${process.env["PATH"] ?? ""}`,
      KUBECACHEDIR: `${bin}/../cache`,
    };
    await follow(
      [
        {
          line: "kubectl -n greeting exec deployment/greeting -- wget -qO- http://greeting",
          says: /^hello$/,
        },
        { line: "kubectl apply -f config/samples/replace.yaml" },
        { line: "npx qm plan status greeting-2 -n greeting --watch", says: /greeting-2 {2}Installed/ },
        { line: "kubectl -n greeting get configmap greeting -o jsonpath={.data}", says: /good day/ },
      ],
      env,
    );
    const down = await typeLine(`make down ARGS="--name ${name}"`, {});
    expect(down.said).toContain("nothing of it is left");
    expect(existsSync(dirname(kubeconfig))).toBe(false);
  });
});
