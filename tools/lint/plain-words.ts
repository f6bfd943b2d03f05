/** A word that is not used here, and the one to write instead. */
export interface WordIssue {
  readonly word: string;
  readonly instead: string;
}

/** Words of prose, by pattern. docs/glossary.md lists the words of our own that stay. */
const prose: readonly (readonly [pattern: string, instead: string])[] = [
  ["folders?", "directory"],
  ["licences?", "license"],
  ["authorities", "CAs"],
  ["wish(?:es)?", "setting, spec"],
  ["somebody|everybody|whoever", "the actor: another client, the user, the author, kubelet"],
  ["nobody", "no one"],
  ["anew", "again"],
  ["under way", "in progress"],
  ["goes on|went on", "continues"],
  ["patience", "timeout, grace period"],
  ["looks after|look after|cares for", "manages, reconciles"],
];

const inProse = new RegExp(`(?<![\\w/-])(?:${prose.map(([pattern]) => pattern).join("|")})(?![\\w-])`, "gi");

/** Words of prose in a text that have a Kubernetes word or a plainer one. Code in backquotes does not count. */
export function proseIssues(text: string): readonly WordIssue[] {
  const plain = text.replaceAll(/`[^`\n]*`/g, "");
  return [...plain.matchAll(inProse)].map(([word]) => ({ word, instead: insteadOf(word) }));
}

function insteadOf(word: string): string {
  const [, instead = ""] = prose.find(([pattern]) => new RegExp(`^(?:${pattern})$`, "i").test(word)) ?? [];
  return instead;
}

const names: Readonly<Record<string, string>> = {
  folder: "directory",
  licence: "license",
  somebody: "the actor",
  surroundings: "environment",
  wish: "settings, spec, overrides",
};

/** Words of an identifier, such as `wishOf` or `podFolder`, that are not used here. */
export function identifierIssues(name: string): readonly WordIssue[] {
  return name
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")
    .split(/[ _]+/)
    .map((part) =>
      part
        .toLowerCase()
        .replace(/ies$/, "y")
        .replace(/(?:(?<=sh)es|s)$/, ""),
    )
    .flatMap((word) => {
      const instead = names[word];
      return instead === undefined ? [] : [{ word, instead }];
    });
}
