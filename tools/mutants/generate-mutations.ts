import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { parseSync, Visitor } from "oxc-parser";

import { decisionOperators } from "./decision-operators.ts";
import { type Mutation, mutationOf } from "./mutation.ts";
import type { Operator } from "./operator.ts";
import { writeOperators } from "./write-operators.ts";

/** Kinds of mistake by name: those around writes and wake-ups, then those in decisions. */
export const operators: Readonly<Record<string, Operator>> = { ...writeOperators, ...decisionOperators };

/** Sources whose mistakes tests have to notice: all domains, the runtime, what they share, and the share driver. */
export function mutableFiles(root: string): readonly string[] {
  const packages = "{api,health,install-plan,licensing,runtime,search,subscription}";
  const patterns = [`packages/${packages}/src/**/*.ts`, "apps/{operator,share-driver}/src/**/*.ts"];
  // Tables of fields and built-in kinds are data; entry points run in other processes.
  const isLeftOut = (file: string): boolean =>
    /\/(?:index|main|errors)\.ts$|\/(?:kinds|testing)\//.test(file);
  return patterns
    .flatMap((pattern) => globSync(pattern, { cwd: root }))
    .filter((file) => !isLeftOut(file))
    .toSorted();
}

/** Every mutation that the operators make of a file. */
export function mutationsOf(root: string, file: string): readonly Mutation[] {
  const text = readFileSync(join(root, file), "utf8");
  return mutationsOfText({ file, text });
}

/** The same of a text. */
export function mutationsOfText(source: {
  readonly file: string;
  readonly text: string;
}): readonly Mutation[] {
  const { program } = parseSync(source.file, source.text);
  const found: Mutation[] = [];
  for (const [name, operator] of Object.entries(operators)) {
    const visitor = operator(source.text, (edit) => found.push(mutationOf(source, name, edit)));
    new Visitor(visitor).visit(program);
  }
  return found;
}
