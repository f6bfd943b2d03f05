import type { ObjectPropertyKind, Statement } from "oxc-parser";

import { awaitedCall, calledName, type Operator, removals, replace, textOf } from "./operator.ts";

/** Mistakes around writes: their preconditions, their order, and who is woken. */
export const writeOperators: Readonly<Record<string, Operator>> = {
  "drop-precondition": dropProperties(new Set(["preconditions", "uid", "resourceVersion"])),
  "drop-wake-up": (text, report) => ({
    ...dropProperties(wakeUps)(text, report),
    ExpressionStatement(node) {
      const { expression } = node;
      const call = expression.type === "AwaitExpression" ? expression.argument : expression;
      if (wakeUps.has(calledName(call) ?? "")) report(replace(node, ""));
    },
  }),
  "drop-await": (text, report) => ({
    ExpressionStatement(node) {
      const call = awaitedCall(node);
      if (call !== undefined) report(replace(node, `void ${textOf(text, call)};`));
    },
  }),
  "drop-write": (_text, report) => ({
    ExpressionStatement(node) {
      if (awaitedCall(node) !== undefined) report(replace(node, ""));
    },
  }),
  "drop-call": (text, report) => ({
    ExpressionStatement(node) {
      if (node.expression.type !== "CallExpression") return;
      if (!isTelemetry(textOf(text, node))) report(replace(node, ""));
    },
  }),
  "swap-writes": (text, report) => ({
    BlockStatement({ body }) {
      swaps(text, body, report);
    },
  }),
  "drop-element": (_text, report) => ({
    ArrayExpression({ elements }) {
      for (const edit of removals(elements)) report(edit);
    },
  }),
  "drop-spread": (_text, report) => ({
    ObjectExpression({ properties }) {
      reportSome(properties, report, ({ type }) => type === "SpreadElement");
    },
  }),
};

/** Names of what brings a reconcile back, in options, outcomes and calls. */
const wakeUps: ReadonlySet<string> = new Set([
  "reenqueueForMs",
  "requeueAfterMs",
  "atMs",
  "owns",
  "watches",
  "reads",
  "wakes",
  "enqueue",
  "add",
  "addAfter",
  "follow",
  "track",
  "wake",
  "notify",
  "resample",
]);

function dropProperties(names: ReadonlySet<string>): Operator {
  return (_text, report) => ({
    ObjectExpression({ properties }) {
      // A call makes a field of a schema.
      const isSchema = (property: ObjectPropertyKind): boolean =>
        property.type === "Property" && property.value.type === "CallExpression";
      reportSome(properties, report, (property) => names.has(nameOf(property)) && !isSchema(property));
    },
  });
}

function reportSome(
  properties: readonly ObjectPropertyKind[],
  report: Parameters<Operator>[1],
  isMeant: (property: ObjectPropertyKind) => boolean,
): void {
  for (const [at, edit] of removals(properties).entries()) {
    const property = properties[at];
    if (property !== undefined && isMeant(property)) report(edit);
  }
}

function nameOf(property: ObjectPropertyKind): string {
  return property.type === "Property" && property.key.type === "Identifier" ? property.key.name : "";
}

/** What only logs or counts decides nothing. */
function isTelemetry(statement: string): boolean {
  return /\blog\b|\bmetrics?\b|\.(?:debug|info|warn|observe|inc)\(/.test(statement);
}

function swaps(text: string, body: readonly Statement[], report: Parameters<Operator>[1]): void {
  for (const [at, first] of body.entries()) {
    const second = body[at + 1];
    if (second === undefined || awaitedCall(first) === undefined || awaitedCall(second) === undefined)
      continue;
    const replacement = `${textOf(text, second)}\n${textOf(text, first)}`;
    report({ start: first.start, end: second.end, replacement });
  }
}
