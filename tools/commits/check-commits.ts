/** Commits up to this one were made before the rule. */
const firstBase = "b30a8c8ab1db4ba4c42e49a34b25030fa1c0813f";

const types = ["fix", "feat", "docs", "test", "refactor", "perf", "build", "chore"] as const;
const longestSubject = 72;

/** One sentence on what is wrong with the subject of a commit; undefined when it is as CONTRIBUTING.md says. */
export function commitIssue(subject: string): string | undefined {
  if (subject.length > longestSubject)
    return `has ${subject.length} characters; at most ${longestSubject} are allowed`;
  const { type = "", first = "" } = form.exec(subject)?.groups ?? {};
  if (type === "") return "is not `type(scope): imperative, lower case`";
  if (!types.some((each) => each === type)) return `has the type ${type}; use ${types.join(", ")}`;
  return isImperative(first)
    ? undefined
    : `begins with "${first}"; use the imperative, e.g. "add", not "added"`;
}

/** The scope is a package, or several; a commit across the repository has none. */
const form = /^(?<type>[a-z]+)(?:\([a-z0-9-]+(?:,[a-z0-9-]+)*\))?: (?<first>[a-z][\w-]*)\b(?:.*[^.])?$/;

/** By the ending: a word like "added", "adding" or "adds" is refused. */
function isImperative(text: string): boolean {
  return exceptions.has(text) || !/(?:[^e]ed|ing|[^su]s)$/.test(text);
}

const exceptions: ReadonlySet<string> = new Set([
  "bring",
  "embed",
  "bias",
  "alias",
  "canvas",
  "shed",
  "ping",
]);

/** Runs git and returns what it wrote; undefined if it fails. */
export type Git = (...args: readonly string[]) => string | undefined;

export interface CommitCheck {
  /** One sentence for each commit whose subject is wrong. */
  readonly issues: readonly string[];
  /** Why nothing, or not everything, was checked. */
  readonly note?: string | undefined;
}

/** Checks the commits after `base`, merges aside. In a shallow clone that ends before it, all that there are. */
export function checkCommits(git: Git, base: string = firstBase): CommitCheck {
  if (git("--version") === undefined)
    return { issues: [], note: "git is not installed: no commit is checked" };
  const shallow = git("rev-parse", "--is-shallow-repository");
  if (shallow === undefined) return { issues: [], note: "this is no git repository: no commit is checked" };
  const hasBase = git("merge-base", "--is-ancestor", base, "HEAD") !== undefined;
  if (!hasBase && shallow.trim() !== "true")
    return { issues: [], note: `commit ${base} is not in the history of HEAD: no commit is checked` };
  const range = hasBase ? [`${base}..HEAD`] : ["HEAD"];
  const log = git("log", "--no-merges", "--format=%h %s", ...range) ?? "";
  const issues = log
    .split("\n")
    .filter((line) => line !== "")
    .flatMap((line) => {
      const [commit = "", ...rest] = line.split(" ");
      const subject = rest.join(" ");
      const issue = commitIssue(subject);
      return issue === undefined ? [] : [`${commit} "${subject}" ${issue}`];
    });
  return { issues, note: hasBase ? undefined : "shallow clone: only its own commits are checked" };
}
