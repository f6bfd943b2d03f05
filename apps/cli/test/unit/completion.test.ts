import { execFileSync, spawnSync } from "node:child_process";

import { expect, test } from "vitest";

import { allCommands } from "../../src/commands/all-commands.ts";
import { type } from "../support/user.ts";

/** What bash offers after the words. */
function offered(script: string, words: readonly string[]): readonly string[] {
  const line = `COMP_WORDS=(qm ${words.map((word) => `"${word}"`).join(" ")}); COMP_CWORD=${String(words.length)}; _qm; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return execFileSync("bash", ["--norc", "-c", `${script}\n${line}`], { encoding: "utf8" })
    .trim()
    .split("\n");
}

test("bash completes commands, the second word of a group, and flags", async () => {
  const { code, out } = await type(["completion", "bash"]);
  expect(code).toBe(0);
  expect(offered(out, ["pl"])).toEqual(["plan"]);
  expect(offered(out, [""])).toEqual(
    expect.arrayContaining(["pack", "plan", "search", "help", "completion"]),
  );
  expect(offered(out, ["plan", "st"])).toEqual(["status"]);
  expect(offered(out, ["plan", "status", "--w"])).toEqual(["--watch"]);
  expect(offered(out, ["plan", "status", "web", "--name"])).toEqual(["--namespace"]);
  expect(offered(out, ["pack", "--na"])).toEqual(["--name", "--namespace"]);
});

test.each(["bash", "zsh", "fish", "powershell"])("the script of %s knows every command", async (shell) => {
  const { out } = await type(["completion", shell]);
  for (const { name } of allCommands) for (const word of name.split(" ")) expect(out).toContain(word);
});

test.each(["zsh", "fish"])("%s reads its script, where it is installed", async (shell) => {
  const { out } = await type(["completion", shell]);
  const { status, stderr } = spawnSync(shell, ["-n"], { input: out, encoding: "utf8" });
  expect(status === null ? "" : stderr).toBe("");
});

test("a shell that there is no script for is a usage error", async () => {
  expect(await type(["completion", "tcsh"])).toMatchObject({
    code: 2,
    err: expect.stringContaining("bash") as string,
  });
});
