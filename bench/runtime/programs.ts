import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

import { build } from "esbuild";

/** Builds the peer in Go from the module proxy; a second time takes a second. */
export function buildGoPeer(): string {
  const folder = cacheFolder();
  const output = join(folder, "controller-runtime-go");
  const cwd = join(import.meta.dirname, "../peers/controller-runtime-go");
  const { status } = spawnSync("go", ["build", "-trimpath", "-mod=readonly", "-o", output, "."], {
    cwd,
    stdio: ["ignore", "ignore", "inherit"],
  });
  if (status !== 0) throw new Error(`go build ended with ${String(status)}`);
  return output;
}

/** One file with all that the contestant needs, as an image would have it. */
export async function bundle(name: string): Promise<string> {
  const outfile = join(cacheFolder(), `${name}.mjs`);
  await build({
    entryPoints: [join(import.meta.dirname, "../contestants", `${name}.ts`)],
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
