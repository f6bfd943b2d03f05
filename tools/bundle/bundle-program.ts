import { build } from "esbuild";

/** A program of ours and the file that it becomes. */
export interface BundleRequest {
  readonly entryPoint: string;
  readonly outfile: string;
}

/** Writes one file with all that a program needs, as an image has it. The same sources give the same bytes. */
export async function bundleProgram({ entryPoint, outfile }: BundleRequest): Promise<void> {
  await build({
    entryPoints: [entryPoint],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node24",
    // CommonJS parts of the bundle request Node's own modules by `require`.
    banner: {
      js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
    },
    logLevel: "error",
  });
}
