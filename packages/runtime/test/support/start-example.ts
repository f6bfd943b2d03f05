import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

/** An example as a user would run it; disposing of it kills it if it still runs. */
export function startExample(
  name: string,
  env: Readonly<Record<string, string>>,
): ChildProcess & AsyncDisposable {
  const file = join(import.meta.dirname, "../../../../examples", name, "main.ts");
  const child = spawn(process.execPath, [file], {
    env: { ...process.env, METRICS_PORT: "0", ...env },
    stdio: "inherit",
  });
  return Object.assign(child, {
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill("SIGKILL");
      await once(child, "exit");
    },
  });
}
