import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

import { build } from "esbuild";

/** A peer from the Go module proxy: the folder below bench/peers pins its version, the package is its program. */
export interface GoPeer {
  readonly name: "helm" | "kapp";
  readonly package: string;
}

/** The peers that plans are measured against, besides kubectl. */
export const goPeers: readonly GoPeer[] = [
  { name: "helm", package: "helm.sh/helm/v4/cmd/helm" },
  { name: "kapp", package: "carvel.dev/kapp/cmd/kapp" },
];

/** Builds the peer and says where it is. The first time takes minutes, later ones a second. */
export function buildPeer({ name, package: path }: GoPeer): string {
  const output = join(cacheFolder(), name);
  const cwd = join(import.meta.dirname, "../peers", name);
  const { status } = spawnSync("go", ["build", "-trimpath", "-mod=readonly", "-o", output, path], {
    cwd,
    stdio: ["ignore", "ignore", "inherit"],
  });
  if (status !== 0) throw new Error(`go build of ${name} ended with ${String(status)}`);
  return output;
}

/** The operator as one file, as an image would have it. */
export async function bundleOperator(): Promise<string> {
  const outfile = join(cacheFolder(), "operator.mjs");
  await build({
    entryPoints: [join(import.meta.dirname, "../../apps/operator/src/main.ts")],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node24",
    // CommonJS parts of the bundle ask for Node's own modules by `require`.
    banner: {
      js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
    },
    logLevel: "error",
  });
  return outfile;
}

function cacheFolder(): string {
  const home = process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache");
  const folder = join(home, "quartermaster", "bench");
  mkdirSync(folder, { recursive: true });
  return folder;
}
