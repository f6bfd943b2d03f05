import type { Expression, Span, Statement } from "oxc-parser";

import { type Operator, replace, textOf } from "./operator.ts";

/** Mistakes in decisions: boundaries, conditions, unknown facts, several of a thing. */
export const decisionOperators: Readonly<Record<string, Operator>> = {
  boundary: binary({ ">": ">=", ">=": ">", "<": "<=", "<=": "<" }),
  direction: binary({ ">": "<", ">=": "<=", "<": ">", "<=": ">=" }),
  equality: binary({ "===": "!==", "!==": "===" }),
  arithmetic: binary({ "+": "-", "-": "+", "*": "/", "/": "*" }),
  margin: (text, report) => ({
    BinaryExpression({ operator, right }) {
      if (!directions.has(operator)) return;
      for (const other of ["0", `2 * (${textOf(text, right)})`]) report(replace(right, other));
    },
  }),
  "drop-term": (text, report) => ({
    BinaryExpression(node) {
      if (!arithmetic.has(node.operator)) return;
      for (const side of [node.left, node.right]) report(replace(node, textOf(text, side)));
    },
    CallExpression(node) {
      if (!limits.has(textOf(text, node.callee)) || node.arguments.length < 2) return;
      for (const each of node.arguments)
        if (each.type !== "SpreadElement") report(replace(node, textOf(text, each)));
    },
  }),
  order: (text, report) => ({
    CallExpression({ callee, arguments: [other, ...more] }) {
      if (callee.type !== "MemberExpression" || other === undefined || more.length > 0) return;
      const { object, property } = callee;
      if (textOf(text, property) !== "localeCompare") return;
      report({
        start: object.start,
        end: other.end,
        replacement: `${textOf(text, other)}.localeCompare(${textOf(text, object)}`,
      });
    },
    ArrayExpression({ elements }) {
      const [first, second] = elements;
      if (first?.type !== "Literal" || second?.type !== "Literal") return;
      report({ start: first.start, end: second.end, replacement: `${second.raw ?? ""}, ${first.raw ?? ""}` });
    },
  }),
  "unknown-as-known": (text, report) => ({
    BinaryExpression(node) {
      const { left, right } = node;
      const opposite = oppositeTests.get(`${node.operator} ${textOf(text, right)}`);
      if (opposite !== undefined) report(replace(node, `${textOf(text, left)} ${opposite}`));
    },
    LogicalExpression({ operator, right }) {
      const opposite = oppositeDefaults.get(textOf(text, right));
      if (operator === "??" && opposite !== undefined) report(replace(right, opposite));
    },
  }),
  "drop-operand": (text, report) => ({
    LogicalExpression(node) {
      report(replace(node, textOf(text, node.left)));
      if (node.operator !== "??") report(replace(node, textOf(text, node.right)));
    },
  }),
  "drop-guard": (_text, report) => ({
    IfStatement(node) {
      if (node.alternate === null && endsFunction(node.consequent)) report(replace(node, ""));
    },
  }),
  "always-guard": (text, report) => ({
    IfStatement({ test }) {
      report(replace(test, `!(${textOf(text, test)})`));
    },
  }),
  "one-branch": (text, report) => ({
    ConditionalExpression(node) {
      report(replace(node, textOf(text, node.consequent)));
      report(replace(node, textOf(text, node.alternate)));
    },
  }),
  "constant-return": (text, report) => ({
    ReturnStatement({ argument }) {
      if (argument === null || !isTest(argument)) return;
      for (const value of ["true", "false"]) report(replace(argument, value));
    },
    ArrowFunctionExpression({ body, params }) {
      if (body.type === "BlockStatement" || params.length === 0 || !isTest(body)) return;
      for (const value of ["true", "false"]) report(replace(body, value));
    },
    UnaryExpression({ operator, argument, ...node }) {
      if (operator === "!") report(replace(node, textOf(text, argument)));
    },
  }),
  quantifier: (_text, report) => ({
    MemberExpression({ property }) {
      const other = property.type === "Identifier" ? otherMethods.get(property.name) : undefined;
      if (other !== undefined) report(replace(property, other));
    },
  }),
  "drop-step": (text, report) => ({
    CallExpression(node) {
      const { callee } = node;
      if (callee.type !== "MemberExpression" || callee.property.type !== "Identifier") return;
      if (steps.has(callee.property.name)) report(replace(node, textOf(text, callee.object)));
    },
  }),
  "first-only": (text, report) => ({
    ForOfStatement({ right }) {
      report(replace(right, `[...${textOf(text, right)}].slice(0, 1)`));
    },
    CallExpression({ callee }) {
      if (callee.type !== "MemberExpression" || callee.property.type !== "Identifier") return;
      const { object, property } = callee;
      if (property.name === "map" || property.name === "flatMap")
        report(replace(object, `${textOf(text, object)}.slice(0, 1)`));
    },
  }),
  "part-of-key": (text, report) => ({
    TemplateLiteral({ expressions, quasis }) {
      const isMessage = quasis.some(({ value }) => value.raw.includes(" "));
      if (isMessage || expressions.length < 2) return;
      for (const expression of expressions)
        if (textOf(text, expression) !== '""') report(replace(expression, '""'));
    },
  }),
  constant: (text, report) => ({
    Literal(node) {
      if (typeof node.value === "number") report(replace(node, `${textOf(text, node)} + 1`));
      if (typeof node.value === "boolean") report(replace(node, String(!node.value)));
    },
  }),
  unit: (_text, report) => ({
    Identifier({ name, ...node }) {
      const other = otherUnits.get(name);
      if (other !== undefined) report(replace(node, other));
    },
  }),
};

const directions: ReadonlySet<string> = new Set([">", ">=", "<", "<="]);

const arithmetic: ReadonlySet<string> = new Set(["+", "-", "*", "/", "**"]);

const limits: ReadonlySet<string> = new Set(["Math.min", "Math.max"]);

const oppositeTests = mapOf({
  "=== true": "!== false",
  "=== false": "!== true",
  "!== true": "=== false",
  "!== false": "=== true",
});

const oppositeDefaults = mapOf({ true: "false", false: "true" });

const otherMethods = mapOf({
  every: "some",
  some: "every",
  min: "max",
  max: "min",
  startsWith: "endsWith",
  find: "findLast",
  findLast: "find",
  union: "difference",
});

/** Methods of a chain that the rest of it compiles without. */
const steps: ReadonlySet<string> = new Set(["filter", "toSorted", "toReversed", "slice", "trim"]);

const otherUnits = mapOf({
  secondMs: "1",
  minuteMs: "1_000",
  hourMs: "60_000",
  dayMs: "3_600_000",
});

function mapOf(entries: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  return new Map(Object.entries(entries));
}

function binary(entries: Readonly<Record<string, string>>): Operator {
  const others = mapOf(entries);
  return (text, report) => ({
    BinaryExpression(node) {
      const other = others.get(node.operator);
      if (other === undefined) return;
      report(replace(node, `${textOf(text, node.left)} ${other} ${textOf(text, node.right)}`));
    },
  });
}

/** Whether nothing behind the statement runs. */
function endsFunction(statement: Statement): boolean {
  const last = statement.type === "BlockStatement" ? statement.body.at(-1) : statement;
  return (
    last?.type === "ReturnStatement" || last?.type === "ThrowStatement" || last?.type === "ContinueStatement"
  );
}

const comparisons: ReadonlySet<string> = new Set(["===", "!==", ">", ">=", "<", "<=", "in", "instanceof"]);

/** Whether an expression is true or false by its form. */
function isTest(expression: (Expression & Span) | Span): boolean {
  if (!("type" in expression)) return false;
  if (expression.type === "BinaryExpression") return comparisons.has(expression.operator);
  if (expression.type === "LogicalExpression") return expression.operator !== "??";
  return expression.type === "UnaryExpression" && expression.operator === "!";
}
