import type { Expression, Span, Statement, VisitorObject } from "oxc-parser";

import type { Edit } from "./mutation.ts";

/** A kind of mistake: visits a syntax tree and reports the edits that would make the mistake there. */
export type Operator = (text: string, report: (edit: Edit) => void) => VisitorObject;

/** Replaces a node by text. */
export function replace({ start, end }: Span, replacement: string): Edit {
  return { start, end, replacement };
}

/** Text of a node. */
export function textOf(text: string, { start, end }: Span): string {
  return text.slice(start, end);
}

/** Edits that remove one element of a list, with the comma behind or before it. */
export function removals(elements: readonly (Span | null)[]): readonly Edit[] {
  const nodes = elements.filter((node) => node !== null);
  return nodes.map((node, at) => {
    const next = nodes[at + 1];
    const previous = nodes[at - 1];
    if (next !== undefined) return { start: node.start, end: next.start, replacement: "" };
    return { start: previous?.end ?? node.start, end: node.end, replacement: "" };
  });
}

/** Name of what is called: `enqueue` of `this.#queue.enqueue(key)`; undefined for what has no name. */
export function calledName(expression: Expression): string | undefined {
  if (expression.type !== "CallExpression") return undefined;
  const { callee } = expression;
  if (callee.type === "Identifier") return callee.name;
  return callee.type === "MemberExpression" && callee.property.type === "Identifier"
    ? callee.property.name
    : undefined;
}

/** The call that a statement waits for, e.g. `await client.delete(…)`. */
export function awaitedCall(statement: Statement | undefined): Expression | undefined {
  if (statement?.type !== "ExpressionStatement") return undefined;
  const { expression } = statement;
  return expression.type === "AwaitExpression" ? expression.argument : undefined;
}
