import { mkdirSync, rmSync } from "node:fs";

import type { Tmpfs } from "../../src/files/tmpfs.ts";

/** Directories instead of file systems: no test mounts anything on this machine. */
export class DirectoryTmpfs implements Tmpfs {
  readonly mounted = new Set<string>();
  /** The next mount fails, after it was made. */
  failsNext = false;
  /** The next unmount fails, before anything is done. */
  failsNextUnmount = false;
  /** The driver is killed in the next mount, after it was made. */
  hangsNext = false;
  /** Called before each mount. */
  onMount: (target: string) => unknown = () => undefined;

  async mount(target: string): Promise<void> {
    await Promise.resolve();
    await this.onMount(target);
    mkdirSync(target, { recursive: true });
    this.mounted.add(target);
    if (this.hangsNext) {
      this.hangsNext = false;
      await new Promise(() => undefined);
    }
    if (!this.failsNext) return;
    this.failsNext = false;
    throw new Error("cut off");
  }

  async unmount(target: string): Promise<void> {
    await Promise.resolve();
    if (this.failsNextUnmount) {
      this.failsNextUnmount = false;
      throw new Error("busy");
    }
    rmSync(target, { recursive: true, force: true });
    this.mounted.delete(target);
  }

  isMounted(target: string): boolean {
    return this.mounted.has(target);
  }
}
