import { type CelInput, type CelResult, isCelError, parse, plan } from "@bufbuild/cel";
import { isJsonObject, isRawNumber } from "@quartermaster/runtime";

import { Allowance } from "./allowance.ts";
import { isDeeperThan, problemOf, meter } from "./meter.ts";
import { meteredEnv } from "./metered-env.ts";

/** Longer expressions are refused before they are parsed; the CRD has the same limit. */
const lengthLimit = 4_096;
/** Far above what people write, far below what the stack of any thread takes: the answer must not depend on who asks. */
const depthLimit = 300;

/** The problem of a CEL expression, checked without any object; undefined when it can be evaluated. */
export function checkExpression(expression: string): string | undefined {
  const compiled = compile(expression);
  return typeof compiled === "string" ? compiled : undefined;
}

/** Result of an expression for an object, or that it takes too much work to evaluate. */
export type Judgement =
  | { readonly kind: "true" }
  | { readonly kind: "untrue" | "tooExpensive"; readonly why: string };

/**
 * Whether the expression is true of the object, which it sees as `self`. Never throws. The work is bounded by an allowance of
 * steps, which depends on expression and object only, and patterns are matched in linear time.
 */
export function judge(expression: string, self: unknown): Judgement {
  const compiled = compile(expression);
  if (typeof compiled === "string") return { kind: "untrue", why: compiled };
  return compiled(self);
}

function judgementOf(result: CelResult): Judgement {
  if (result === true) return { kind: "true" };
  if (result === false) return { kind: "untrue", why: "it is false" };
  const why = isCelError(result) ? firstLine(result.message) : "it does not return a boolean";
  return { kind: "untrue", why };
}

type Compiled = (self: unknown) => Judgement;

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
  try {
    const tree = parse(expression).expr;
    if (tree === undefined) return "it is empty";
    if (isDeeperThan(tree, depthLimit)) return tooDeep;
    const problem = problemOf(tree, (name) => env.funcs.find(name) !== undefined);
    return problem ?? evaluator(plan(env, meter(tree)));
  } catch (error) {
    // The parser may meet the end of the stack before there is a tree to look at.
    if (error instanceof RangeError) return tooDeep;
    return firstLine(error instanceof Error ? error.message : "it cannot be parsed");
  }
}

const tooDeep = "it is nested too deeply";

/** One for all expressions: evaluation is synchronous, and each begins with the whole allowance. */
const allowance = new Allowance();
const env = meteredEnv(allowance);

const tooExpensive: Judgement = { kind: "tooExpensive", why: "it takes too many steps on this object" };

function evaluator(evaluate: ReturnType<typeof plan>): Compiled {
  return (self) => {
    allowance.renew();
    try {
      const result = evaluate({ self: celValueOf(self) });
      return allowance.isSpent ? tooExpensive : judgementOf(result);
    } catch (error) {
      // The stack ends first where an expression nests very deep.
      if (error instanceof RangeError) return tooExpensive;
      throw error;
    }
  };
}

function firstLine(message: string): string {
  return message.split("\n", 1)[0] ?? "";
}

/** JSON as CEL sees it in the API server: whole numbers are ints, objects are maps, so no key reaches a prototype. */
function celValueOf(value: unknown): CelInput {
  if (typeof value === "string" || typeof value === "boolean" || value === null) return value;
  if (typeof value === "number") return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (isRawNumber(value))
    return /^-?\d+$/.test(value.rawJSON) ? BigInt(value.rawJSON) : Number(value.rawJSON);
  if (Array.isArray(value)) return value.map((item) => celValueOf(item));
  if (!isJsonObject(value)) return null;
  return new Map(Object.entries(value).map(([key, item]) => [key, celValueOf(item)]));
}
