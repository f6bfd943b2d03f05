import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";

import { expect, test } from "vitest";

import { identifierIssues, proseIssues } from "../lint/plain-words.ts";

const repository = resolve(import.meta.dirname, "../..");
const pages = execFileSync("git", ["ls-files", "*.md", "Makefile", "config/*.yaml"], {
  cwd: repository,
  encoding: "utf8",
})
  .split("\n")
  .filter((path) => path !== "" && path !== "CHANGELOG.md");

test.each(pages)("%s has no word that Kubernetes has another word for", (path) => {
  const lines = readFileSync(join(repository, path), "utf8")
    .replaceAll(/^```[\s\S]*?^```/gm, "")
    .split("\n");
  expect(
    lines.flatMap((line) => proseIssues(line).map(({ word, instead }) => `${word} → ${instead}: ${line}`)),
  ).toEqual([]);
});

test.each([
  { text: "Nobody looks after the folders.", want: ["Nobody", "looks after", "folders"] },
  { text: "the flag `--folder` of a directory", want: [] },
  { text: "a wishbone and a timeout", want: [] },
])("prose: $text", ({ text, want }) => {
  expect(proseIssues(text).map(({ word }) => word)).toEqual(want);
});

test.each([
  { name: "podFolders", want: "directory" },
  { name: "DEFAULT_FOLDER", want: "directory" },
  { name: "poolWishes", want: "settings, spec, overrides" },
  { name: "directory", want: undefined },
])("a name: $name", ({ name, want }) => {
  expect(identifierIssues(name)[0]?.instead).toBe(want);
});
