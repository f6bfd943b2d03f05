import { type CelInput, celEnv, type CelResult, isCelError, parse, plan } from "@bufbuild/cel";
import { strings } from "@bufbuild/cel/ext";
import { RE2JS } from "@bufbuild/re2";

import { celValueOf } from "./cel-value.ts";
import { Allowance } from "./expression-allowance.ts";
import { faultOf, meter } from "./expression-tree.ts";

/** Longer expressions are refused before they are parsed; the CRD has the same limit. */
const lengthLimit = 4_096;
/** A pattern may come out of the object itself. */
const patternLimit = 1_000;

/** What is wrong with a CEL expression, seen without any object; undefined when it can be evaluated. */
export function checkExpression(expression: string): string | undefined {
  const compiled = compile(expression);
  return typeof compiled === "string" ? compiled : undefined;
}

/**
 * Why the expression is not true of the object, which it sees as `self`; undefined when it is true. Never throws. The work is
 * bounded by an allowance of steps, and patterns are matched in linear time.
 */
export function whyNotTrue(expression: string, self: unknown): string | undefined {
  const compiled = compile(expression);
  if (typeof compiled === "string") return compiled;
  const result = compiled(self);
  if (result === true) return undefined;
  if (result === false) return "it is false";
  return isCelError(result) ? firstLine(result.message) : "it gives something else than true or false";
}

type Compiled = (self: unknown) => CelResult;

/** Plans are few and judged often, so what was compiled is kept; the oldest goes first. */
const kept = new Map<string, Compiled | string>();
const keptLimit = 200;

function compile(expression: string): Compiled | string {
  const known = kept.get(expression);
  if (known !== undefined) return known;
  const compiled = compileAnew(expression);
  const [oldest] = kept.keys();
  if (kept.size >= keptLimit && oldest !== undefined) kept.delete(oldest);
  kept.set(expression, compiled);
  return compiled;
}

function compileAnew(expression: string): Compiled | string {
  if (expression.length > lengthLimit) return `it is longer than ${lengthLimit} characters`;
  const allowance = new Allowance();
  const env = celEnv({ funcs: [...strings, ...allowance.functions], re2: boundedPatterns });
  try {
    const tree = parse(expression).expr;
    if (tree === undefined) return "it is empty";
    const fault = faultOf(tree, (name) => env.funcs.find(name) !== undefined);
    return fault ?? evaluator(plan(env, meter(tree)), allowance);
  } catch (error) {
    return firstLine(error instanceof Error ? error.message : "it cannot be read");
  }
}

type Evaluate = (bindings: { readonly self: CelInput }) => CelResult;

function evaluator(evaluate: Evaluate, allowance: Allowance): Compiled {
  return (self) => {
    allowance.renew();
    return evaluate({ self: celValueOf(self) });
  };
}

const boundedPatterns = {
  compile: (pattern: string): { test: (text: string) => boolean } => {
    if (pattern.length > patternLimit) throw new RangeError(`a pattern may have ${patternLimit} characters`);
    return RE2JS.compile(pattern);
  },
};

function firstLine(message: string): string {
  return message.split("\n", 1)[0] ?? "";
}
