/** Runs every step of the check, also after a failed one, and says at the end what mends the failed ones. */
import { spawnSync } from "node:child_process";

import { reportFailures, steps, type Step } from "./steps.ts";

const failed = steps.filter((step) => !passes(step));
console.log(reportFailures(failed).join("\n"));
process.exitCode = failed.length === 0 ? 0 : 1;

function passes({ name, script }: Step): boolean {
  console.log(`check: ${name}`);
  return spawnSync("npm", ["run", "--silent", script], { stdio: "inherit" }).status === 0;
}
