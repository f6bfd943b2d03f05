/** One step of `make check`: the npm script that runs it and the command that mends what it finds. */
export interface Step {
  readonly name: string;
  readonly script: string;
  readonly remedy: string;
}

/** All steps, cheap ones first. */
export const steps: readonly Step[] = [
  {
    name: "commits",
    script: "check:commits",
    remedy:
      "write the subject again with `git commit --amend` or `git rebase -i`; CONTRIBUTING.md has its form",
  },
  { name: "format", script: "check:format", remedy: "run `npm run fix`" },
  {
    name: "lint and dependency rule",
    script: "check:lint",
    remedy: "run `npm run fix`, mend by hand what stays; the dependency table is tools/lint/packages.ts",
  },
  {
    name: "directories",
    script: "check:directories",
    remedy: "move what both directories need to a third one, or to a file beside the directories",
  },
  {
    name: "types",
    script: "check:types",
    remedy: "mend the errors by hand; `npm run check:types` shows them again",
  },
  { name: "generated files", script: "check:generated", remedy: "run `make gen` and commit what it wrote" },
  {
    name: "manifests",
    script: "check:manifests",
    remedy: "run `make manifests`, which needs Go once to build Helm, and commit what it wrote",
  },
  {
    name: "dead code",
    script: "check:dead-code",
    remedy:
      "remove what is unused, or name a new entry file in knip.json; `npm run check:dead-code` shows it again",
  },
];

/** The last lines of a check: one per failed step with its remedy, or one that all is well. */
export function reportFailures(failed: readonly Step[]): readonly string[] {
  if (failed.length === 0) return ["check passed"];
  return failed.map(({ name, remedy }) => `${name} failed: ${remedy}`);
}
