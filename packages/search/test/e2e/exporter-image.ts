import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const repository = join(import.meta.dirname, "../../../..");

/** The exporter's image as an OCI layout, made as `make image` makes it; gone with the scope. */
export function writeExporterImage(): Disposable & { readonly directory: string } {
  const root = mkdtempSync(join(tmpdir(), "exporter-image-"));
  const directory = join(root, "image");
  const program = join(repository, "deploy/image/main.ts");
  execFileSync(process.execPath, [program, "--image", "search-exporter", "--output", directory], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  return {
    directory,
    [Symbol.dispose]: () => {
      rmSync(root, { recursive: true, force: true });
    },
  };
}
