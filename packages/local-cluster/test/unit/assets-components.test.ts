import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { buildFlags } from "../../src/assets/build.ts";
import { cacheDirectory, cacheKey } from "../../src/assets/cache.ts";
import { COMPONENTS, componentNamed } from "../../src/assets/component.ts";
import { findChecksum, releaseOf } from "../../src/assets/download.ts";
import { type GoModule, readGoModule, readKubernetesModules } from "../../src/assets/go-module.ts";
import { realSystem } from "../../src/system/system.ts";

const ownModules = join(import.meta.dirname, "..", "..", "go");
const platform = { os: "linux", arch: "amd64" } as const;
const kubernetes: GoModule = {
  project: "kubernetes",
  directory: "/nowhere",
  version: "v1.36.3",
  goVersion: "1.26.0",
  lockHash: "00",
};

describe("the component table", () => {
  test.each(COMPONENTS)(
    "$name is a tool or the program of a module of ours, locked by go.sum",
    async ({ project, goPackage }) => {
      const modules =
        project === "kubernetes"
          ? await readKubernetesModules(ownModules)
          : [await readGoModule(project, join(ownModules, project))];
      for (const { directory } of modules) {
        const lines = (await readFile(join(directory, "go.mod"), "utf8"))
          .split("\n")
          .map((line) => line.replace(/^tool /, "").trim());
        expect(goPackage === "." ? await readdir(directory) : lines).toContain(
          goPackage === "." ? "main.go" : goPackage,
        );
      }
    },
  );

  test("names each component once", () => {
    const names = COMPONENTS.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  });
});

describe("buildFlags", () => {
  test("stamp the version into kubernetes", () => {
    const flags = buildFlags(kubernetes).join(" ");
    expect(flags).toContain("-X k8s.io/component-base/version.gitVersion=v1.36.3");
    expect(flags).toContain("-X k8s.io/component-base/version.gitMinor=36");
  });

  test("leave other projects unstamped", () => {
    expect(buildFlags({ ...kubernetes, project: "etcd" })).toEqual([
      "-mod=readonly",
      "-trimpath",
      "-buildvcs=false",
      "-ldflags",
      "-s -w",
    ]);
  });
});

describe("cacheKey", () => {
  const key = cacheKey(kubernetes, platform);

  test("names project, version, recipe and platform", () => {
    expect(key).toMatch(/^kubernetes-v1\.36\.3-[0-9a-f]{12}-linux-amd64$/);
  });

  test("stays the same for the same recipe in another directory", () => {
    expect(cacheKey({ ...kubernetes, directory: "/elsewhere" }, platform)).toBe(key);
  });

  const changes = [
    { name: "the lock files", given: cacheKey({ ...kubernetes, lockHash: "01" }, platform) },
    { name: "the version", given: cacheKey({ ...kubernetes, version: "v1.36.4" }, platform) },
    { name: "the processor", given: cacheKey(kubernetes, { os: "linux", arch: "arm64" }) },
  ];
  test.each(changes)("changes with $name", ({ given }) => {
    expect(given).not.toBe(key);
  });
});

describe("cacheFolder", () => {
  const cases = [
    { name: "XDG_CACHE_HOME", given: { XDG_CACHE_HOME: "/xdg" }, want: "/xdg/quartermaster/assets/" },
    { name: "the home directory without it", given: {}, want: "/home/ada/.cache/quartermaster/assets/" },
    {
      name: "the home directory when it is empty",
      given: { XDG_CACHE_HOME: "" },
      want: "/home/ada/.cache/quartermaster/assets/",
    },
  ];
  test.each(cases)("lies below $name", ({ given, want }) => {
    const directory = cacheDirectory(kubernetes, platform, {
      ...realSystem,
      env: given,
      homeDirectory: "/home/ada",
    });
    expect(directory).toBe(`${want}${cacheKey(kubernetes, platform)}`);
  });
});

describe("releaseOf", () => {
  const system = { ...realSystem, env: { QM_RELEASE_MIRROR: "http://127.0.0.1:1/m/" } };
  const cases = [
    { name: "kubectl", version: "v1.36.3", want: "kubernetes/v1.36.3/bin/linux/amd64/kubectl" },
    { name: "etcd", version: "v3.7.3", want: "etcd/v3.7.3/etcd-v3.7.3-linux-amd64.tar.gz" },
    { name: "kwok", version: "v0.8.0", want: "kwok/v0.8.0/kwok-linux-amd64" },
    { name: "coredns", version: "v1.15.0", want: "coredns/v1.15.0/coredns_1.15.0_linux_amd64.tgz" },
  ] as const;
  test.each(cases)("finds $name on a mirror", ({ name, version, want }) => {
    expect(releaseOf(componentNamed(name), version, { platform, system }).fileUrl).toBe(
      `http://127.0.0.1:1/m/${want}`,
    );
  });
});

describe("findChecksum", () => {
  const sum = "ab".repeat(32);
  const cases = [
    { name: "a bare sum", given: `${sum}\n`, want: sum },
    { name: "a line of sum and name", given: `${sum}  file\n`, want: sum },
    {
      name: "a binary-mode line among others",
      given: `${"cd".repeat(32)}  other\n${sum} *file\n`,
      want: sum,
    },
    { name: "nothing for another file", given: `${sum}  other\n`, want: undefined },
    { name: "nothing in a page that is no checksum", given: "<html>", want: undefined },
    { name: "nothing in an empty text", given: "", want: undefined },
  ];
  test.each(cases)("finds $name", ({ given, want }) => {
    expect(findChecksum(given, "file")).toBe(want);
  });
});
