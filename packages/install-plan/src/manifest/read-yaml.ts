import { Composer, type CST, type Document, Lexer, LineCounter, Parser } from "yaml";

import { depthLimit, readJson } from "./read-json.ts";
import { describeYamlMistake } from "./yaml-mistake.ts";
import { yamlValue } from "./yaml-value.ts";

/** What a YAML stream holds, and everything that is wrong with it. */
export interface YamlReading {
  /** Documents without content are left out; `index` counts them. */
  readonly documents: readonly YamlDocument[];
  readonly issues: readonly YamlIssue[];
}

/** One document as JSON. */
export interface YamlDocument {
  readonly value: unknown;
  /** Place in the stream, from 0. */
  readonly index: number;
  /** From 1. */
  readonly line: number;
}

/** One fault; the message names file, document and line and never quotes a value. */
export interface YamlIssue {
  readonly index: number;
  readonly line: number;
  readonly message: string;
}

/**
 * Reads manifests written in YAML 1.2 or JSON, hostile ones too: depth and aliases are limited before anything is built,
 * duplicate keys, unknown tags, merge keys, NUL and byte order marks are refused. Never throws. Two things are read as
 * `kubectl` reads them: keys are text, and `0644` is octal.
 */
export function readYaml(text: string, { file = "manifest" }: { readonly file?: string } = {}): YamlReading {
  const fast = /^\s*[{[]/.test(text) ? readJson(text) : undefined;
  if (fast?.kind === "read") {
    return { documents: [{ value: fast.value, index: 0, line: 1 }], issues: [] };
  }
  const early = findForbidden(text);
  const { documents, problems } =
    early === undefined ? readStream(text) : { documents: [], problems: [early] };
  return { documents, issues: problems.map((issue) => issueOf(file, issue)) };
}

function issueOf(file: string, { index, line, column, message }: YamlProblem): YamlIssue {
  const location = column === undefined ? `line ${line}` : `line ${line}, column ${column}`;
  return { index, line, message: `${file}, document ${index + 1}, ${location}: ${message}` };
}

function findForbidden(text: string): YamlProblem | undefined {
  if (text.startsWith("\u{FEFF}")) {
    return { index: 0, line: 1, message: "starts with a byte order mark; save the file without it" };
  }
  const nul = text.indexOf("\0");
  if (nul === -1) return undefined;
  return { index: 0, line: text.slice(0, nul).split("\n").length, message: "contains a NUL byte" };
}

/** Own check of uniqueness in yaml-value.ts: the library's is quadratic, 30 s for 40,000 keys. */
const composing = {
  version: "1.2",
  schema: "core",
  uniqueKeys: false,
  stringKeys: true,
  resolveKnownTags: false,
  prettyErrors: false,
  logLevel: "silent",
} as const;

interface StreamReading {
  readonly documents: readonly YamlDocument[];
  readonly problems: readonly YamlProblem[];
}

function readStream(text: string): StreamReading {
  const lines = new LineCounter();
  const { tokens, deepAt } = tokenize(text, lines);
  const parsed = [...new Composer(composing).compose(tokens)];
  const readings = parsed.map((document, index) => readDocument({ document, index, lines, text }));
  return {
    documents: readings.flatMap(({ documents }) => documents),
    problems: [
      ...readings.flatMap(({ problems }) => problems),
      ...(deepAt === undefined ? [] : [tooDeep(parsed.length, lines.linePos(deepAt).line)]),
    ],
  };
}

/** The composer is recursive, so it only sees what is known to be shallow; reading ends where the stream gets too deep. */
function tokenize(
  text: string,
  lines: LineCounter,
): { readonly tokens: readonly CST.Token[]; readonly deepAt?: number } {
  const parser = new Parser(lines.addNewLine);
  const tokens: CST.Token[] = [];
  lines.addNewLine(0);
  for (const lexeme of new Lexer().lex(text)) {
    tokens.push(...parser.next(lexeme));
    // The document and the scalar being read are on the stack as well.
    if (parser.stack.length > depthLimit + 2) return { tokens, deepAt: parser.offset };
  }
  tokens.push(...parser.end());
  return { tokens };
}

function tooDeep(index: number, line: number): YamlProblem {
  return { index, line, message: `nested deeper than ${depthLimit} levels` };
}

interface Composed {
  readonly document: Document.Parsed;
  readonly index: number;
  readonly lines: LineCounter;
  readonly text: string;
}

/** Of broken YAML only the first problem is reported: it fails again at every line that follows. */
function readDocument({ document, index, lines, text }: Composed): StreamReading {
  const lineOf = (offset: number): number => Math.max(1, lines.linePos(offset).line);
  const [mistake] = [...document.errors, ...document.warnings];
  if (mistake !== undefined) {
    const { code, message: output, pos } = mistake;
    const { line, col: column } = lines.linePos(pos[0]);
    const message = describeYamlMistake({ code, message: output, line: lineAround(text, pos[0]) });
    return { documents: [], problems: [{ index, line: Math.max(1, line), column, message }] };
  }
  const { value, problem } = yamlValue(document.contents);
  const line = lineOf(problem?.offset ?? document.contents?.range[0] ?? 0);
  if (problem !== undefined) return { documents: [], problems: [{ index, line, message: problem.message }] };
  return { documents: value === null ? [] : [{ value, index, line }], problems: [] };
}

function lineAround(text: string, offset: number): string {
  const start = text.lastIndexOf("\n", offset - 1) + 1;
  const end = text.indexOf("\n", start);
  return text.slice(start, end === -1 ? undefined : end);
}

/** One thing that is wrong with a YAML stream: in which document, at which line. */
export interface YamlProblem {
  readonly index: number;
  readonly line: number;
  /** From 1; of what the parser could not read. */
  readonly column?: number;
  readonly message: string;
}
