import { build } from "esbuild";

/** A program of ours and the file that it becomes. */
export interface BundleRequest {
  readonly entryPoint: string;
  readonly outfile: string;
  /** Oldest Node that runs it, e.g. `node22.19` (default: the image's). */
  readonly target?: string;
  /** First lines of the program, before anything else runs. */
  readonly start?: string;
  readonly isMinified?: boolean;
  /** (default: esm) */
  readonly format?: "esm" | "cjs";
}

/** Writes one file with all that a program needs, as an image has it. The same sources give the same bytes. */
export async function bundleProgram({
  entryPoint,
  outfile,
  target = "node24",
  start = "",
  isMinified = false,
  format = "esm",
}: BundleRequest): Promise<void> {
  await build({
    entryPoints: [entryPoint],
    outfile,
    bundle: true,
    platform: "node",
    format,
    target,
    minify: isMinified,
    legalComments: "none",
    banner: { js: `${start}${format === "esm" ? requireInModule : ""}` },
    logLevel: "error",
  });
}

/** CommonJS parts of the bundle ask for Node's own modules by `require`. */
const requireInModule =
  'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);';
