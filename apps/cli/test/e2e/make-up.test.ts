import { existsSync } from "node:fs";
import { dirname } from "node:path";

import { hasRealNodes } from "@quartermaster/testkit";
import { afterAll, describe, expect, test } from "vitest";

import { blocksOf, follow, typeLine } from "../support/guide.ts";

const name = `up-nodes-${process.pid}`;

describe.runIf(hasRealNodes())("make up on a real node", () => {
  afterAll(async () => {
    await typeLine(`make down ARGS="--name ${name}"`, {});
  });

  test("[first-use/3] the web server of the sample answers, a ClusterBundle reaches a pod of another namespace, a second plan takes over, and nothing is left", async () => {
    const { output } = await typeLine(`make up ARGS="--name ${name} --profile nodes"`, {});
    expect(output).toMatch(/profile nodes\n[^]*greeting-1 {2}Installed[^]*job ask {2}Succeeded[^]*Try next/);
    expect(output).toMatch(
      /Pod entitled\/entitled has the files of its Bundle[^]*entitlement-key\.pem[^]*entitlement\.pem/,
    );
    const kubeconfig = /export KUBECONFIG=(\S+)/.exec(output)?.[1] ?? "";
    const bin = /export PATH=([^:]+):/.exec(output)?.[1] ?? "";
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
    // The share driver runs: what the administrators' guide shares reaches a pod of another namespace.
    const [share = "", , permit = ""] = blocksOf("bundles-administrators.md");
    const app = "--image=quartermaster.local/busybox:1 --command -- sleep 3600";
    const inject = "--annotations=subscription.openshift.io/inject-cluster-bundle=rhel";
    await follow(
      [
        { line: share, says: /clusterbundle\S*\/rhel condition met/ },
        { line: permit, says: /rolebinding\S* created/ },
        { line: `kubectl -n shop run app ${inject} ${app}` },
        { line: "kubectl -n shop wait --for=condition=Ready pod/app --timeout=60s", says: /condition met/ },
        {
          line: "kubectl -n shop exec app -- cat /run/secrets/etc-pki-entitlement/entitlement.pem",
          says: /^certificate$/,
        },
      ],
      env,
    );
    const down = await typeLine(`make down ARGS="--name ${name}"`, {});
    expect(down.output).toContain("nothing of it is left");
    expect(existsSync(dirname(kubeconfig))).toBe(false);
  });
});
