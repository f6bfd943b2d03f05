import type { ErrorCode } from "yaml";

export interface YamlMistake {
  readonly code: ErrorCode;
  /** The parser's own words. Never shown: some of them quote the text, which may be a Secret's. */
  readonly message: string;
  readonly line: string;
}

/** The most likely problem, in our own words, and its remedy. Never quotes the text. */
export function describeYamlMistake({ code, message, line }: YamlMistake): string {
  const isMet = (mistake: KnownMistake): boolean =>
    mistake.code === code && (mistake.message === undefined || mistake.message.test(message));
  return (
    foreignText.find(({ met }) => met.test(line))?.text ??
    mistakes.find(isMet)?.text ??
    "is not valid YAML; check the quotes and the indentation"
  );
}

/** Text that is no YAML at all, whatever the parser makes of it. */
const foreignText: readonly { readonly met: RegExp; readonly text: string }[] = [
  { met: /\{\{/, text: "looks like a template; render it first, for example with helm template" },
  { met: /^(?:<{7}|={7}|>{7})/, text: "is a marker of a merge conflict; resolve the conflict" },
];

interface KnownMistake {
  readonly code: ErrorCode;
  /** Tells mistakes of one code apart. */
  readonly message?: RegExp;
  readonly text: string;
}

const keyExpected = "expected key: value, with a space after the colon";
const unevenList = "the indentation is inconsistent; all items of a list must start in the same column";
const openBracket = "a bracket is not closed";

/** The first one that fits decides. */
const mistakes: readonly KnownMistake[] = [
  {
    code: "BAD_ALIAS",
    text: "an alias or anchor is malformed; put a value that starts with * or & in quotes",
  },
  {
    code: "BAD_DIRECTIVE",
    text: "a directive is unknown or misplaced; put a value that starts with % in quotes",
  },
  { code: "BAD_DQ_ESCAPE", text: "an escape sequence in double quotes is unknown; use single quotes" },
  { code: "BAD_INDENT", message: /^Flow /, text: openBracket },
  {
    code: "BAD_INDENT",
    message: /sequence items/,
    text: unevenList,
  },
  {
    code: "BAD_INDENT",
    text: "the indentation is inconsistent; all keys of a mapping must start in the same column",
  },
  { code: "BAD_SCALAR_START", text: "a value starts with a reserved character; put it in quotes" },
  {
    code: "BLOCK_AS_IMPLICIT_KEY",
    message: /^Nested mappings/,
    text: "a value is expected and key: value found; put a value that contains a colon in quotes, or check the indentation of the next line",
  },
  { code: "BLOCK_AS_IMPLICIT_KEY", text: unevenList },
  { code: "BLOCK_IN_FLOW", text: "a block list or mapping is used inside brackets" },
  { code: "KEY_OVER_1024_CHARS", text: "a key is longer than 1024 characters" },
  { code: "MISSING_CHAR", message: /quote/, text: "a quote is not closed" },
  { code: "MISSING_CHAR", message: /^Implicit map keys/, text: keyExpected },
  { code: "MISSING_CHAR", message: /between flow/, text: "a comma or a colon is missing between brackets" },
  { code: "MISSING_CHAR", message: /must end with|Expected flow/, text: openBracket },
  { code: "MISSING_CHAR", text: "a quote, a bracket, a comma, a colon or a space is missing" },
  { code: "MULTILINE_IMPLICIT_KEY", text: keyExpected },
  { code: "MULTIPLE_DOCS", text: "a document must start with ---" },
  { code: "NON_STRING_KEY", text: "keys must be strings" },
  { code: "TAB_AS_INDENT", text: "tabs are not allowed as indentation; use spaces" },
  { code: "TAG_RESOLVE_FAILED", text: "the tag is unknown; remove it" },
  {
    code: "UNEXPECTED_TOKEN",
    message: /flow-(?:seq|map)-end/,
    text: "a bracket is closed that was not opened",
  },
  {
    code: "UNEXPECTED_TOKEN",
    text: "unexpected text after a value; put the whole value in quotes, and do not mix list items and keys at one indentation",
  },
];
