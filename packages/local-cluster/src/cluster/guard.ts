import { spawn } from "node:child_process";
import { Socket } from "node:net";
import { join } from "node:path";

/** The launcher's end of the pipe to a cluster's guardian. */
export interface Guard {
  /** Lets the guardian go without touching the cluster; resolves once it is gone. */
  release(): Promise<void>;
}

/** Starts the guardian of the cluster in `folder`. From here on the death of this process is the death of the cluster. */
export function postGuard(folder: string): Guard {
  const guardian = spawn(process.execPath, [join(import.meta.dirname, "guardian.ts"), folder], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
    env: {},
  });
  guardian.unref();
  const pipe = guardian.stdin;
  pipe.on("error", () => undefined); // a guardian that was killed: as above
  if (pipe instanceof Socket) pipe.unref();
  const { promise: gone, resolve } = Promise.withResolvers<void>();
  guardian.once("close", () => resolve());
  guardian.once("error", () => resolve()); // no guardian: the next start reaps instead
  return {
    release: async () => {
      guardian.ref();
      pipe.end("release");
      await gone;
    },
  };
}
