import { execFileSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";

export interface SystemFilesRequest {
  /** Directory that becomes the image's root. */
  readonly root: string;
  /** Path of a static busybox. */
  readonly busybox: string;
  /** Directories with programs and libraries whose own libraries are needed; those that are not there count as empty. */
  readonly programs: readonly string[];
  /** Name of the user 1000. */
  readonly user: string;
}

/** Writes a small system: bash, the tools of busybox, the C library and what the programs need, and a user. */
export function writeSystemFiles({ root, busybox, programs, user }: SystemFilesRequest): void {
  for (const directory of [
    "usr/bin",
    "usr/lib",
    "usr/lib64",
    "usr/sbin",
    "etc",
    "proc",
    "sys",
    "dev",
    "run",
    "var",
    "root",
  ])
    mkdirSync(join(root, directory), { recursive: true, mode: 0o755 });
  for (const directory of ["bin", "lib", "lib64", "sbin"])
    symlinkSync(`usr/${directory}`, join(root, directory));
  mkdirSync(join(root, "tmp"));
  chmodSync(join(root, "tmp"), 0o1777);
  copyInto(root, { from: "/bin/bash", path: "usr/bin/bash" });
  writeTools(root, busybox);
  for (const library of librariesOf(["/bin/bash", ...programs.flatMap(elfFiles)]))
    copyInto(root, { from: library, path: merged(library) });
  writeFileSync(
    join(root, "etc/passwd"),
    `root:x:0:0::/root:/bin/bash\n${user}:x:1000:1000::/usr/share/${user}:/bin/bash\n`,
  );
  writeFileSync(join(root, "etc/group"), `root:x:0:\n${user}:x:1000:\n`);
  writeFileSync(join(root, "etc/nsswitch.conf"), "hosts: files dns\n");
}

/** Libraries named by the loader lie below the merged `/usr`, whatever name they were found under. */
export function merged(path: string): string {
  const relative = path.replace(/^\//, "");
  return relative.startsWith("usr/") ? relative : `usr/${relative}`;
}

/** Libraries that the loader names, each once. Those that it does not find are for windows and sound, which no server has. */
export function parseLibraries(lddOutput: string): readonly string[] {
  const found = lddOutput.split("\n").flatMap((line) => /^\s+(?:\S+ => )?(\/\S+) \(/.exec(line)?.[1] ?? []);
  return [...new Set(found)].toSorted();
}

function writeTools(root: string, busybox: string): void {
  copyInto(root, { from: busybox, path: "usr/bin/busybox" });
  const applets = execFileSync(busybox, ["--list"], { encoding: "utf8" }).split("\n").filter(Boolean);
  for (const applet of applets.filter((name) => !["busybox", "bash"].includes(name)))
    symlinkSync("busybox", join(root, "usr/bin", applet));
}

/** Libraries of the machine that programs need: those beside a program are found by it. */
export function librariesOf(programs: readonly string[]): readonly string[] {
  const output = execFileSync("sh", ["-c", 'ldd "$@" 2>/dev/null || true', "sh", ...programs], {
    encoding: "utf8",
    maxBuffer: 16 * 1024 * 1024,
  });
  return parseLibraries(output).filter(
    (library) => /^(?:\/usr)?\/lib/.test(library) && !library.includes("/jvm/"),
  );
}

function elfFiles(directory: string): readonly string[] {
  if (!existsSync(directory)) return [];
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && (entry.name.endsWith(".so") || entry.parentPath.endsWith("/bin")))
    .map((entry) => join(entry.parentPath, entry.name));
}

interface Copy {
  readonly from: string;
  readonly path: string;
}

function copyInto(root: string, { from, path }: Copy): void {
  const target = join(root, path);
  mkdirSync(dirname(target), { recursive: true });
  copyFileSync(from, target);
  chmodSync(target, 0o755);
}
