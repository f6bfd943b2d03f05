import type { parse } from "@bufbuild/cel";

import { itemsMeter, valueMeter } from "./allowance.ts";

/** A node of a parsed expression: plain data. */
export type Expression = NonNullable<ReturnType<typeof parse>["expr"]>;

/** Names of types. */
const typeNames = "bool bytes double dyn int list map null_type string type uint".split(" ");

/** A name or function that does not exist; the library would report it only on evaluation. */
export function problemOf(expression: Expression, isFunction: (name: string) => boolean): string | undefined {
  return problemBelow(expression, { isFunction, names: new Set(["self", ...typeNames]) });
}

/** The same expression, with every loop, call and comparison paying for what it is given. */
export function meter(expression: Expression): Expression {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every node is rebuilt as the kind of node it was
  return metered(expression) as Expression;
}

/** Whether expressions stand in each other more than this many times. */
export function isDeeperThan(expression: Expression, limit: number): boolean {
  const open: { readonly value: unknown; readonly depth: number }[] = [{ value: expression, depth: 0 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (!isNode(next.value)) continue;
    const depth = next.depth + (next.value["$typeName"] === "cel.expr.Expr" ? 1 : 0);
    if (depth > limit) return true;
    for (const value of Object.values(next.value)) open.push({ value, depth });
  }
  return false;
}

interface Known {
  readonly isFunction: (name: string) => boolean;
  readonly names: ReadonlySet<string>;
}

type Node = Readonly<Record<string, unknown>>;

function problemBelow(value: unknown, known: Known): string | undefined {
  if (!isNode(value)) return undefined;
  const problem = problemAt(value, known);
  if (problem !== undefined) return problem;
  const added = loopNames(value);
  const inner = added.length === 0 ? known : { ...known, names: new Set([...known.names, ...added]) };
  for (const child of Object.values(value)) {
    const below = problemBelow(child, inner);
    if (below !== undefined) return below;
  }
  return undefined;
}

function problemAt(node: Node, { isFunction, names }: Known): string | undefined {
  const { $typeName: type, name, function: called } = node;
  if (type === "cel.expr.Expr.Ident" && typeof name === "string" && !names.has(name)) {
    return `there is no ${name}; the object is called self`;
  }
  if (type !== "cel.expr.Expr.Call" || typeof called !== "string") return undefined;
  return /^[a-z]/i.test(called) && !isFunction(called) ? `there is no function ${called}` : undefined;
}

function loopNames({ $typeName: type, accuVar, iterVar }: Node): readonly string[] {
  return type === "cel.expr.Expr.Comprehension" ? [String(accuVar), String(iterVar)] : [];
}

function metered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => metered(item));
  if (!isNode(value)) return value;
  const copy: Node = Object.fromEntries(Object.entries(value).map(([key, child]) => [key, metered(child)]));
  if (copy["$typeName"] === "cel.expr.Expr.Comprehension") {
    const weight = nodesIn(copy["loopCondition"]) + nodesIn(copy["loopStep"]);
    return { ...copy, iterRange: paid(itemsMeter, copy["iterRange"], whole(weight)) };
  }
  const isCostly = copy["$typeName"] === "cel.expr.Expr.Call" && costly.test(String(copy["function"]));
  return isCostly ? paidCall(copy) : copy;
}

/** Functions and methods with a name of their own, and the operators that look into what they are given. */
const costly = /^(?:[a-z].*|@in|_(?:==|!=|<|<=|>|>=)_)$/i;

function paidCall(call: Node): Node {
  const { args, target } = call;
  return {
    ...call,
    args: Array.isArray(args) ? args.map((argument: unknown) => paid(valueMeter, argument)) : [],
    ...(target === undefined ? {} : { target: paid(valueMeter, target) }),
  };
}

function paid(by: string, ...args: readonly unknown[]): unknown {
  const value = { $typeName: "cel.expr.Expr.Call", function: by, args };
  return { $typeName: "cel.expr.Expr", id: 0n, exprKind: { case: "callExpr", value } };
}

function whole(count: number): unknown {
  const value = {
    $typeName: "cel.expr.Constant",
    constantKind: { case: "int64Value", value: BigInt(count) },
  };
  return { $typeName: "cel.expr.Expr", id: 0n, exprKind: { case: "constExpr", value } };
}

/** Steps of one turn. What an inner loop repeats is not counted: that loop pays for it. */
function nodesIn(value: unknown): number {
  if (!isNode(value)) return 0;
  const isLoop = value["$typeName"] === "cel.expr.Expr.Comprehension";
  const parts = isLoop ? [value["iterRange"], value["accuInit"], value["result"]] : Object.values(value);
  const own = value["$typeName"] === "cel.expr.Expr" ? 1 : 0;
  return parts.reduce<number>((sum, part) => sum + nodesIn(part), own);
}

/** Bytes and numbers are data of a node, not nodes. */
function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && !(value instanceof Uint8Array);
}
