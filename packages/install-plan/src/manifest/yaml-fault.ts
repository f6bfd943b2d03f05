import type { ErrorCode } from "yaml";

/** One thing that is wrong with a YAML stream: in which document, at which line. */
export interface YamlFault {
  readonly index: number;
  readonly line: number;
  readonly message: string;
}

/** Our own words for the parser's complaints: its messages quote the text, which may be a Secret's. */
export function describeYamlError(code: ErrorCode): string {
  return descriptions.get(code) ?? "is not valid YAML";
}

const descriptions: ReadonlyMap<ErrorCode, string> = new Map([
  ["BAD_ALIAS", "an alias or anchor is malformed"],
  ["BAD_DIRECTIVE", "a directive is unknown or misplaced"],
  ["BAD_DQ_ESCAPE", "an escape sequence in double quotes is unknown"],
  ["BAD_INDENT", "the indentation is inconsistent"],
  ["BAD_SCALAR_START", "a value starts with a reserved character; put it in quotes"],
  ["BLOCK_AS_IMPLICIT_KEY", "a mapping or list is used where a single-line value is expected"],
  ["BLOCK_IN_FLOW", "a block collection is used inside brackets"],
  ["KEY_OVER_1024_CHARS", "a key is longer than 1024 characters"],
  ["MISSING_CHAR", "a closing quote, a bracket, a comma, a colon or a space is missing"],
  ["MULTILINE_IMPLICIT_KEY", "a key spans more than one line"],
  ["MULTIPLE_DOCS", "a document must start with ---"],
  ["NON_STRING_KEY", "keys must be strings"],
  ["TAB_AS_INDENT", "tabs are not allowed as indentation; use spaces"],
  ["TAG_RESOLVE_FAILED", "the tag is unknown; remove it"],
  ["UNEXPECTED_TOKEN", "unexpected token"],
]);
