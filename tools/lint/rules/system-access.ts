import type { Context, CreateRule, ESTree } from "@oxlint/plugins";

import { repositoryPath } from "../repository-path.ts";
import { isSystemImport, isSystemMember, mayAccessSystem, timerGlobals } from "../system-access.ts";

/** Reports direct use of clock, timers, randomness, ids and environment outside `src/system`. */
export const systemAccess: CreateRule = {
  create(context) {
    if (mayAccessSystem(repositoryPath(context))) return {};
    return {
      ImportDeclaration: (node) => checkImport(context, node),
      MemberExpression: (node) => checkMember(context, node),
      VariableDeclarator: (node) => checkDestructuring(context, node),
      NewExpression: (node) => {
        if (isIdentifier(node.callee, "Date") && node.arguments.length === 0)
          report(context, node, "new Date()");
      },
      CallExpression: (node) => {
        if (isIdentifier(node.callee, "Date")) report(context, node, "Date()");
      },
      "Program:exit": (node) => checkGlobals(context, node),
    };
  },
};

function report(context: Context, node: ESTree.Node, what: string): void {
  context.report({
    node,
    message: `${what} belongs into src/system: take it from there, so that tests can replace it`,
  });
}

function isIdentifier(node: ESTree.Node, name: string): boolean {
  return node.type === "Identifier" && node.name === name;
}

function checkImport(context: Context, node: ESTree.ImportDeclaration): void {
  const module = node.source.value;
  for (const specifier of node.specifiers) {
    const name = specifier.type === "ImportSpecifier" ? nameOf(specifier.imported) : "*";
    if (name !== undefined && isSystemImport(module, name))
      report(context, specifier, `${name} of "${module}"`);
  }
}

function checkMember(context: Context, node: ESTree.MemberExpression): void {
  const property = nameOf(node.property);
  if (node.object.type !== "Identifier" || property === undefined) return;
  if (isSystemMember(node.object.name, property)) report(context, node, `${node.object.name}.${property}`);
}

function checkDestructuring(context: Context, { id, init }: ESTree.VariableDeclarator): void {
  if (id.type !== "ObjectPattern" || init?.type !== "Identifier") return;
  for (const property of id.properties) {
    const name = property.type === "Property" ? nameOf(property.key) : undefined;
    if (name !== undefined && isSystemMember(init.name, name))
      report(context, property, `${init.name}.${name}`);
  }
}

function checkGlobals(context: Context, program: ESTree.Program): void {
  for (const { identifier } of context.sourceCode.getScope(program).through) {
    if (timerGlobals.has(identifier.name)) report(context, identifier, identifier.name);
  }
}

function nameOf(node: ESTree.Node): string | undefined {
  if (node.type === "Identifier") return node.name;
  return node.type === "Literal" && typeof node.value === "string" ? node.value : undefined;
}
