import { chmod, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { failureOf, openWorkshop, say } from "./asset-workshop.ts";

test("[local-cluster/LC-03] QM_KUBE_ASSETS that lacks one binary gives one error naming the directory and the missing file", async () => {
  await using workshop = await openWorkshop();
  const directory = await directoryWith(workshop.directory, ["etcd", "kubectl"]);
  const request = { components: ["etcd", "kube-apiserver", "kubectl"] } as const;
  const error = await failureOf(workshop.resolve(request, { QM_KUBE_ASSETS: directory }));
  expect(error.code).toBe("AssetMissing");
  expect(error.message).toBe(
    `The directory ${directory}, named by QM_KUBE_ASSETS, lacks kube-apiserver (as an executable file). ` +
      "Put it there, or unset QM_KUBE_ASSETS to have the binaries fetched or built.",
  );
});

test("[local-cluster/LC-03] a file that cannot be executed, and a directory of that name, count as missing", async () => {
  await using workshop = await openWorkshop();
  const directory = await directoryWith(workshop.directory, ["etcd"]);
  await chmod(join(directory, "etcd"), 0o644);
  await mkdir(join(directory, "kubectl"));
  const error = await failureOf(
    workshop.resolve({ components: ["etcd", "kubectl"] }, { QM_KUBE_ASSETS: directory }),
  );
  expect(error.message).toContain("lacks etcd, kubectl");
});

test("[local-cluster/LC-03] a directory that does not exist is named as well", async () => {
  await using workshop = await openWorkshop();
  const error = await failureOf(workshop.resolve({}, { QM_KUBE_ASSETS: "/nonexistent/folder" }));
  expect(error.code).toBe("AssetMissing");
  expect(error.message).toContain("/nonexistent/folder");
});

test("QM_KUBE_ASSETS with everything in it is used as it is, before KUBEBUILDER_ASSETS and without building", async () => {
  await using workshop = await openWorkshop();
  const directory = await directoryWith(workshop.directory, ["etcd", "kubectl"]);
  await symlink(directory, join(workshop.directory, "link"));
  const env = { QM_KUBE_ASSETS: join(workshop.directory, "link"), KUBEBUILDER_ASSETS: "/nonexistent/folder" };
  const binaries = await workshop.resolve({ components: ["etcd", "kubectl"] }, env);
  expect(binaries.path("etcd")).toBe(join(workshop.directory, "link", "etcd"));
  expect(workshop.lines).toEqual([
    `using etcd, kubectl from ${join(workshop.directory, "link")} (QM_KUBE_ASSETS)`,
  ]);
});

test("KUBEBUILDER_ASSETS gives what it has, and the rest is built", async () => {
  await using workshop = await openWorkshop();
  const directory = await directoryWith(workshop.directory, ["etcd"]);
  const binaries = await workshop.resolve(
    { components: ["etcd", "kubectl"] },
    { KUBEBUILDER_ASSETS: directory },
  );
  expect(binaries.path("etcd")).toBe(join(directory, "etcd"));
  expect(say(binaries.path("kubectl"))).toBe("kubectl");
});

async function directoryWith(parent: string, names: readonly string[]): Promise<string> {
  const directory = join(parent, "assets");
  await mkdir(directory);
  for (const name of names) {
    await writeFile(join(directory, name), "#!/bin/sh\n");
    await chmod(join(directory, name), 0o755);
  }
  return directory;
}
