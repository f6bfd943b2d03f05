import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { checkCommits, commitIssue, type Git } from "../commits/check-commits.ts";

describe("the subject of a commit", () => {
  test.each([
    { subject: "fix(search): keep the volume of a node that is replaced" },
    { subject: "refactor(search,licensing): share the choice of a license" },
    { subject: "docs: say how a flag is added" },
    { subject: "build: format, and lint what is generated" },
    { subject: "feat(cli): pass --watch to qm search status" },
    { subject: `test(runtime): ${"x".repeat(57)}` },
  ])("$subject", ({ subject }) => {
    expect(commitIssue(subject)).toBeUndefined();
  });

  test.each([
    { subject: "keep the volume", want: /is not/ },
    { subject: "fix(search) keep the volume", want: /is not/ },
    { subject: "fix(search): Keep the volume", want: /is not/ },
    { subject: "fix(search): keep the volume.", want: /is not/ },
    { subject: "style(search): format", want: /has the type style/ },
    { subject: "fix(search): added a test", want: /begins with "added"/ },
    { subject: "fix(search): adding a test", want: /begins with "adding"/ },
    { subject: "fix(search): adds a test", want: /begins with "adds"/ },
    { subject: `fix(search): ${"x".repeat(60)}`, want: /has 73 characters/ },
  ])("$subject: $want", ({ subject, want }) => {
    expect(commitIssue(subject)).toMatch(want);
  });
});

describe("the commits of a clone", () => {
  let parent: string;
  let origin: string;
  let base: string;

  beforeAll(() => {
    parent = mkdtempSync(join(tmpdir(), "qm-commits-"));
    origin = join(parent, "origin");
    execFileSync("git", ["init", "-q", "-b", "main", origin]);
    commit("Old times");
    base = (gitIn(origin)("rev-parse", "HEAD") ?? "").trim();
    commit("fix(api): add a limit");
    commit("Fixed it");
  });

  afterAll(() => {
    rmSync(parent, { recursive: true });
  });

  function commit(subject: string): void {
    const who = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"];
    execFileSync("git", [...who, "-C", origin, "commit", "-q", "--allow-empty", "-m", subject]);
  }

  function gitIn(directory: string): Git {
    return (...args) => {
      const { status, stdout } = spawnSync("git", ["-C", directory, ...args], { encoding: "utf8" });
      return status === 0 ? stdout : undefined;
    };
  }

  test("are checked after the recorded one only", () => {
    const { issues, note } = checkCommits(gitIn(origin), base);
    expect(issues).toHaveLength(1);
    expect(issues[0]).toMatch(/^\w+ "Fixed it" is not/);
    expect(note).toBeUndefined();
  });

  test("are checked as far as a shallow clone has them", () => {
    const clone = join(parent, "shallow");
    execFileSync("git", ["clone", "-q", "--depth=1", `file://${origin}`, clone]);
    const { issues, note } = checkCommits(gitIn(clone), base);
    expect(issues).toHaveLength(1);
    expect(issues[0]).toMatch(/"Fixed it"/);
    expect(note).toMatch(/shallow clone/);
  });

  test("are not checked without the recorded one, without a repository and without git, which is said", () => {
    const lost = checkCommits(gitIn(origin), "0".repeat(40));
    expect(lost.note).toMatch(/is not in the history/);
    const bare = checkCommits(gitIn(parent), base);
    expect(bare.note).toMatch(/no git repository/);
    const without = checkCommits(() => undefined);
    expect(without.note).toMatch(/git is not installed/);
    expect([lost, bare, without].flatMap(({ issues }) => issues)).toEqual([]);
  });
});
