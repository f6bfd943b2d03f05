/** Checks the subjects of new commits. */
import { spawnSync } from "node:child_process";

import { checkCommits } from "./check-commits.ts";

const { issues, note } = checkCommits((...args) => {
  const { status, stdout } = spawnSync("git", args, {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  return status === 0 ? stdout : undefined;
});
if (note !== undefined) console.log(note);
for (const issue of issues) console.log(issue);
process.exitCode = issues.length === 0 ? 0 : 1;
