import type { Context, CreateRule, ESTree } from "@oxlint/plugins";

import { isDurationWithoutUnit, type Unit, unitOf } from "../unit-of.ts";

/** Reports values whose names say different units where they meet, and numbers that are lengths of time in no unit. */
export const unitNames: CreateRule = {
  create: (context) => ({
    BinaryExpression: ({ operator, left, right }) => {
      if (compared.has(operator)) check(context, left, right);
    },
    AssignmentExpression: ({ operator, left, right }) => {
      if (operator === "=" || operator === "+=" || operator === "-=") check(context, left, right);
    },
    AssignmentPattern: ({ left, right }) => check(context, left, right),
    VariableDeclarator: ({ id, init }) => {
      if (init !== null) check(context, id, init);
      if (init !== null && isNumber(init)) checkName(context, id);
    },
    // No name is requested here: options of others are called as they call them.
    Property: ({ key, value }) => check(context, key, value),
    TSPropertySignature: ({ key, typeAnnotation }) => {
      if (typeAnnotation?.typeAnnotation.type === "TSNumberKeyword") checkName(context, key);
    },
  }),
};

/** A product or quotient changes the unit; these do not. */
const compared: ReadonlySet<string> = new Set(["+", "-", "<", "<=", ">", ">=", "===", "!=="]);

function check(context: Context, one: ESTree.Node, other: ESTree.Node): void {
  const [first, second] = [unitIn(one), unitIn(other)];
  if (first === undefined || second === undefined || first === second) return;
  context.report({
    node: other,
    message: `${second} meets ${first} here: convert it, and name it by its unit`,
  });
}

function checkName(context: Context, node: ESTree.Node): void {
  const name = nameOf(node);
  if (name === undefined || !isDurationWithoutUnit(name)) return;
  context.report({
    node,
    message: `${name} is a length of time: end its name with the unit, e.g. ${name}Ms`,
  });
}

function unitIn(node: ESTree.Node): Unit | undefined {
  const name = nameOf(node);
  return name === undefined ? undefined : unitOf(name);
}

/** Name of a variable, of the property that is read, or of the key. */
function nameOf(node: ESTree.Node): string | undefined {
  if (node.type === "MemberExpression") return node.computed ? undefined : nameOf(node.property);
  return node.type === "Identifier" ? node.name : undefined;
}

function isNumber(node: ESTree.Node): boolean {
  return node.type === "Literal" && typeof node.value === "number";
}
