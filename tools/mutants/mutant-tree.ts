import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { mutated, type Mutation } from "./mutation.ts";

/** Our packages as npm links them; the links are relative, so that those of a copy lead into the copy. */
const ownScope = "@quartermaster";

/** A copy of the working tree, uncommitted changes included, in which files can be changed. Goes when disposed of. */
export class MutantTree implements Disposable {
  readonly root: string;
  /** Texts of the files that are changed now. */
  readonly #originals = new Map<string, string>();

  constructor(source: string) {
    this.root = mkdtempSync(join(tmpdir(), "mutants-"));
    const listed = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
      cwd: source,
      encoding: "utf8",
      maxBuffer: 64 * 2 ** 20,
    });
    for (const file of listed.split("\0").filter((name) => name !== "" && existsSync(join(source, name)))) {
      mkdirSync(dirname(join(this.root, file)), { recursive: true });
      cpSync(join(source, file), join(this.root, file), { verbatimSymlinks: true });
    }
    this.#linkModules(source);
    this.#allowUnused();
  }

  /** Changes the file until it is restored. */
  apply(mutation: Mutation): void {
    const path = join(this.root, mutation.file);
    const text = readFileSync(path, "utf8");
    this.#originals.set(mutation.file, text);
    writeFileSync(path, mutated(text, mutation));
  }

  /** Undoes the change of the file. */
  restore(file: string): void {
    const text = this.#originals.get(file);
    if (text !== undefined) writeFileSync(join(this.root, file), text);
  }

  [Symbol.dispose](): void {
    rmSync(this.root, { recursive: true, force: true });
  }

  /** Packages of others are shared; ours must be those of the copy. */
  #linkModules(source: string): void {
    const from = join(source, "node_modules");
    const to = join(this.root, "node_modules");
    mkdirSync(join(to, ownScope), { recursive: true });
    const isShared = (name: string): boolean => name !== ownScope && !/^\.(?!bin$)/.test(name);
    for (const name of readdirSync(from).filter(isShared)) symlinkSync(join(from, name), join(to, name));
    for (const name of readdirSync(join(from, ownScope)))
      symlinkSync(readlinkSync(join(from, ownScope, name)), join(to, ownScope, name));
  }

  /** What a mutant no longer uses is no error of it. */
  #allowUnused(): void {
    const path = join(this.root, "tsconfig.base.json");
    writeFileSync(path, readFileSync(path, "utf8").replaceAll(/("noUnused\w+"): true/g, "$1: false"));
  }
}
