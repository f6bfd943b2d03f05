import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, test } from "vitest";

import type { ProgressEvent } from "../../src/assets/progress.ts";
import { resolveBinaries } from "../../src/assets/resolve.ts";
import { startLocalCluster } from "../../src/index.ts";
import { realSystem } from "../../src/system/system.ts";

const ALL = [
  "etcd",
  "kube-apiserver",
  "kube-controller-manager",
  "kube-scheduler",
  "kubectl",
  "kwok",
] as const;
/** Two modules, and the programs that link fastest; `make campaign` builds all. */
const BUILT: readonly (typeof ALL)[number][] =
  process.env["QM_CAMPAIGN"] === "1" ? ALL : ["etcd", "kube-scheduler"];

/** A directory with the programs that are not to be built. */
async function namedDirectory(parent: string): Promise<string> {
  const directory = join(parent, "named");
  mkdirSync(directory);
  const components = ALL.filter((name) => !BUILT.includes(name));
  const { paths } = await resolveBinaries({ components, system: realSystem });
  for (const [name, path] of paths) symlinkSync(path, join(directory, name));
  return directory;
}

test(
  "[local-cluster/LC-01] builds what an empty cache lacks, starts it, and does not build again",
  { timeout: 1_800_000 },
  async () => {
    const cache = mkdtempSync(join(tmpdir(), "qm-"));
    try {
      const { QM_KUBE_ASSETS: _own, KUBEBUILDER_ASSETS: _common, ...env } = realSystem.env;
      // Go keeps its own cache below XDG_CACHE_HOME; ours is to be empty, not the compiler's.
      const GOCACHE = execFileSync("go", ["env", "GOCACHE"], { encoding: "utf8" }).trim();
      const KUBEBUILDER_ASSETS = await namedDirectory(cache);
      const system = {
        ...realSystem,
        env: { ...env, KUBEBUILDER_ASSETS, XDG_CACHE_HOME: cache, GOCACHE, QM_ASSETS_OFFLINE: "1" },
      };
      const start = async (): Promise<{ readonly built: readonly string[]; readonly readyz: string }> => {
        const built: string[] = [];
        const report = (event: ProgressEvent): void => {
          if (event.kind === "finished") built.push(event.step.component, ...(event.step.others ?? []));
        };
        await using cluster = await startLocalCluster({ report }, system);
        return { built, readyz: (await cluster.kubectl(["get", "--raw", "/readyz"])).stdout };
      };
      const first = await start();
      expect(first.readyz).toBe("ok");
      expect(first.built.toSorted()).toEqual(BUILT);
      const second = await start();
      expect(second).toEqual({ built: [], readyz: "ok" });
    } finally {
      rmSync(cache, { recursive: true, force: true });
    }
  },
);
