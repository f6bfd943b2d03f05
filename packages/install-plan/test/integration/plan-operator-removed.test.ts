import { readFile } from "node:fs/promises";

import { installPlan } from "@quartermaster/api";
import { type Access, connect, eventually, startLocalCluster } from "@quartermaster/testkit";
import { expect, test } from "vitest";

import { configMaps } from "../support/kinds.ts";
import { configMap } from "../support/manifests.ts";
import { makeAdministrator, makeInstaller, operateThrough } from "../support/own-cluster.ts";
import { aPlan } from "../support/plans.ts";

const namespace = "default";

/** The command of the guide for a plan whose operator no longer exists, as arguments. */
async function documentedPatch(name: string): Promise<readonly string[]> {
  const page = await readFile(new URL("../../../../docs/guides/uninstall.md", import.meta.url), "utf8");
  const [, command = ""] = /`kubectl (patch installplans[^`]+)`/.exec(page.replaceAll("\n", " ")) ?? [];
  return command
    .replace("NAME ", `${name} `)
    .replace("NAMESPACE", namespace)
    .split(" ")
    .map((text) => text.replaceAll("'", ""));
}

test("[faults/48] with the operator removed first, only the finalizer of a plan blocks, and the documented patch helps", async () => {
  await using cluster = await startLocalCluster({ kwokNodes: 0 });
  const { server, caPem, token = "" } = cluster.admin;
  const access: Access = { server, caPem, token };
  await using admin = connect(access);
  await makeInstaller(admin);
  await makeAdministrator(admin);
  {
    await using _ = await operateThrough(access);
    const { apiVersion, kind } = aPlan("left");
    const stages = [{ name: "s", resources: [configMap("left")] }];
    const spec = { serviceAccountName: "installer", stages };
    const metadata = { name: "left", namespace };
    await admin.client.create(installPlan.kind, { apiVersion, kind, metadata, spec } as never);
    await eventually(async () => {
      const { status } = await admin.client.get(installPlan.kind, metadata);
      return status?.phase === "Installed";
    });
  }
  const run = async (args: readonly string[]): Promise<number> => (await cluster.kubectl(args)).code;
  const plan = ["installplans.install.quartermaster.dev/left", "--namespace", namespace];
  // A new kind reaches the discovery that kubectl asks a moment later.
  await eventually(async (see) => see(await cluster.kubectl(["get", ...plan])).code === 0);
  const deletion = await cluster.kubectl(["delete", ...plan, "--timeout=2s"]);
  expect(deletion.stderr).toContain("timed out");
  const { metadata } = await admin.client.get(installPlan.kind, { namespace, name: "left" });
  expect(metadata.deletionTimestamp).toBeDefined();
  expect(await run(await documentedPatch("left"))).toBe(0);
  expect(await run(["wait", "--for=delete", ...plan, "--timeout=20s"])).toBe(0);
  expect(await admin.client.find(configMaps, { namespace, name: "left" })).toBeDefined();
  expect(await run(["delete", "configmap", "left", "--namespace", namespace, "--timeout=20s"])).toBe(0);
});
