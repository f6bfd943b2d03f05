import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** A directory of the test's own; `await using` removes it. */
export interface TempDirectory extends AsyncDisposable {
  readonly path: string;
  /** Writes a file below it and gives its path. */
  write(name: string, content: string | object, mode?: number): Promise<string>;
}

/** Makes a directory. Objects are written as JSON, which is YAML too. */
export async function makeTempDirectory(): Promise<TempDirectory> {
  const path = await mkdtemp(join(tmpdir(), "runtime-test-"));
  return {
    path,
    write: async (name, content, mode = 0o600) => {
      const file = join(path, name);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, typeof content === "string" ? content : JSON.stringify(content));
      await chmod(file, mode);
      return file;
    },
    [Symbol.asyncDispose]: async () => {
      await rm(path, { recursive: true, force: true });
    },
  };
}
