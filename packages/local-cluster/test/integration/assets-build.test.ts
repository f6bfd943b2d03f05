import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { realSystem } from "../../src/system/system.ts";
import { failureOf, openWorkshop, say } from "./asset-workshop.ts";

test("builds what is missing, one module at a time, and builds nothing the second time", async () => {
  await using workshop = await openWorkshop();
  const components = ["kubectl", "etcd", "kube-apiserver"] as const;
  const binaries = await workshop.resolve({ components });
  expect(binaries.version).toBe("v1.99.1");
  for (const name of components) expect(say(binaries.path(name))).toBe(name);
  // Both lines of work begin together, so either may be the first.
  expect(workshop.lines).toContainEqual(
    expect.stringMatching(/^building kube-apiserver, kubectl v1\.99\.1 \((?:1-2|2-3) of 3\), about 5:35$/),
  );
  expect(workshop.lines).toContain(
    "3 programs are not in the cache and cannot be downloaded (QM_ASSETS_OFFLINE is set): building them from source takes about 7 minutes on two cores, once per version",
  );
  const reported = workshop.lines.length;
  expect((await workshop.resolve({ components })).path("etcd")).toBe(binaries.path("etcd"));
  expect(workshop.lines).toHaveLength(reported);
});

test("[local-cluster/LC-04] without Go, network and cache one error lists what was tried and what to do, within seconds", async () => {
  await using workshop = await openWorkshop();
  const started = realSystem.nowMs();
  // Port 1 on loopback refuses: the nearest thing to a machine without network that leaves no machine.
  const env = {
    PATH: join(workshop.directory, "empty"),
    QM_ASSETS_OFFLINE: "",
    QM_RELEASE_MIRROR: "http://127.0.0.1:1",
  };
  const error = await failureOf(workshop.resolve({ components: ["etcd", "kubectl"] }, env));
  expect(error.code).toBe("AssetsUnavailable");
  expect(error.message.split("\n")).toEqual([
    "The binaries of the local cluster are missing (kubectl, etcd) and cannot be had. Tried:",
    "  - QM_KUBE_ASSETS and KUBEBUILDER_ASSETS: not set",
    expect.stringMatching(/^ {2}- the cache \(.*\): has no (kubectl|etcd)$/),
    expect.stringMatching(/^ {2}- the official release of .*: 127\.0\.0\.1:1 cannot be reached$/),
    "  - a build from Go modules: Go is not installed (no `go` on PATH)",
    " Install Go 1.24 or newer, or name a directory that holds the binaries in QM_KUBE_ASSETS, or allow access to the release sites.",
  ]);
  expect(realSystem.nowMs() - started).toBeLessThan(10_000);
});

test("[local-cluster/LC-04] a Go that is too old is named with the version that is needed", async () => {
  await using workshop = await openWorkshop();
  const path = await workshop.script("go", "#!/bin/sh\necho go1.19.8\n");
  const error = await failureOf(workshop.resolve({}, { PATH: path }));
  expect(error.code).toBe("AssetsUnavailable");
  expect(error.message).toContain("a build from Go modules: Go 1.19.8 is too old, 1.24 is needed");
  expect(error.message).toContain("the official release of etcd v3.9.9: QM_ASSETS_OFFLINE is set");
});

test("a program that does not compile ends in BuildFailed with what Go said", async () => {
  await using workshop = await openWorkshop();
  await writeFile(
    join(workshop.goDirectory, "etcd", "program", "main.go"),
    "package main\n\nfunc main() { undefinedThing() }\n",
  );
  const error = await failureOf(workshop.resolve({}));
  expect(error.code).toBe("BuildFailed");
  expect(error.message).toContain("undefined: undefinedThing");
  expect(await workshop.cacheContent("etcd")).toEqual([]);
});

test("a full disk under Go is reported as such", async () => {
  await using workshop = await openWorkshop();
  const script =
    '#!/bin/sh\n[ "$1" = env ] && { echo go1.99.0; exit; }\necho "write x.a: no space left on device" >&2\nexit 1\n';
  const error = await failureOf(workshop.resolve({}, { PATH: await workshop.script("go", script) }));
  expect(error.code).toBe("StateFolderFull");
});

test("a cache directory that cannot be made is reported as such", async () => {
  await using workshop = await openWorkshop();
  const file = join(workshop.directory, "file");
  await writeFile(file, "");
  const error = await failureOf(workshop.resolve({}, { XDG_CACHE_HOME: file }));
  expect(error.code).toBe("StateFolderNotWritable");
  expect(error.message).toContain(file);
});

test("an unsupported version is refused before anything is done", async () => {
  await using workshop = await openWorkshop();
  const error = await failureOf(workshop.resolve({ version: "1.12" }));
  expect(error.message).toBe('Kubernetes "1.12" is not supported. Choose one of 1.99 (v1.99.1).');
  expect(workshop.lines).toEqual([]);
});
