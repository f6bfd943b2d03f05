import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";

import { LocalClusterError } from "../errors.ts";
import type { ImageLayout } from "./image-layout.ts";
import { writeImageLayout } from "./image-layout.ts";
import type { TarEntry } from "./tar.ts";

/** A small image with a shell and the usual tools, for samples and tests. */
export const BUSYBOX_IMAGE = "quartermaster.local/busybox:1";

/** Writes the layout of the busybox image into `target`, made of this machine's static busybox. */
export async function writeBusyboxImage(target: string): Promise<ImageLayout> {
  const program = findStaticBusybox();
  if (program === undefined)
    throw new LocalClusterError(
      "PrerequisiteMissing",
      `The image ${BUSYBOX_IMAGE} needs a static busybox, and there is none.`,
      "Run: apt-get install busybox-static",
    );
  const applets = execFileSync(program, ["--list"], { encoding: "utf8" }).split("\n").filter(Boolean);
  const directories = ["bin", "dev", "etc", "proc", "root", "run", "sys", "var"].map((path): TarEntry => ({
    kind: "directory",
    path,
    mode: 0o755,
  }));
  return await writeImageLayout({
    name: BUSYBOX_IMAGE,
    entries: [
      ...directories,
      { kind: "directory", path: "tmp", mode: 0o1777 },
      // As in most images: what is mounted below one of them is to be found below the other.
      { kind: "link", path: "var/run", target: "../run" },
      { kind: "file", path: "bin/busybox", mode: 0o755, content: readFileSync(program) },
      ...applets
        .filter((applet) => applet !== "busybox")
        .map((applet): TarEntry => ({ kind: "link", path: `bin/${applet}`, target: "busybox" })),
    ],
    entrypoint: [],
    command: ["sh"],
    env: { PATH: "/bin" },
    compression: "none",
    target,
  });
}

/** Path of a busybox of this machine that needs no library, if there is one. */
export function findStaticBusybox(): string | undefined {
  return ["/bin/busybox", "/usr/bin/busybox", "/usr/local/bin/busybox"].find(
    (path) => existsSync(path) && isStatic(path),
  );
}

/** A dynamic program names its loader near its beginning; the image has none. */
function isStatic(path: string): boolean {
  return !readFileSync(path).subarray(0, 4096).includes("/ld-");
}
