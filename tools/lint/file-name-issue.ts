const catchAllNames = new Set(["common", "helper", "helpers", "misc", "type", "types", "util", "utils"]);
const catchAllParts = new Set(["helper", "helpers", "misc", "util", "utils"]);
const kebabCase = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

/** One sentence on what is wrong with a path of ours (file and directories); undefined when it is well named. */
export function findFileNameIssue(file: string): string | undefined {
  for (const name of file.split("/")) {
    const issue = findNameIssue(name);
    if (issue !== undefined) return issue;
  }
  return undefined;
}

function findNameIssue(name: string): string | undefined {
  if (name.startsWith(".")) return undefined;
  const [stem = "", ...suffixes] = name.split(".");
  if (![stem, ...suffixes].every((part) => kebabCase.test(part))) return `"${name}" is not kebab-case`;
  if (catchAllNames.has(stem) || stem.split("-").some((text) => catchAllParts.has(text))) {
    return `"${name}" says nothing about its content: name it after its main export`;
  }
  return undefined;
}
