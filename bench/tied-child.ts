import type { ChildProcess } from "node:child_process";

/** Ends the child when this process ends, whichever way but by SIGKILL. */
export function tie<C extends ChildProcess>(child: C): C {
  const end = (): void => {
    child.kill("SIGKILL");
  };
  process.once("exit", end);
  child.once("exit", () => process.off("exit", end));
  return child;
}
