import type { Context, CreateRule, ESTree } from "@oxlint/plugins";

import { findImportBreach, isTestFile } from "../import-breach.ts";
import { repositoryPath } from "../repository-path.ts";

/** Reports imports against the table in packages.ts: static, type-only, re-exports, `import()` and `import("…").Type` alike. */
export const dependencyDirection: CreateRule = {
  create(context) {
    const check = (node: ESTree.Node, specifier: string): void => {
      const message = findImportBreach({ file: repositoryPath(context), specifier });
      if (message !== undefined) context.report({ node, message });
    };
    return {
      ImportDeclaration: (node) => check(node, node.source.value),
      ExportAllDeclaration: (node) => check(node, node.source.value),
      ExportNamedDeclaration: (node) => {
        if (node.source !== null) check(node, node.source.value);
      },
      ImportExpression: (node) => {
        const specifier = literalText(node.source);
        if (specifier !== undefined) check(node, specifier);
        else reportUndecidable(context, node);
      },
      TSImportType: (node) => check(node, node.source.value),
    };
  },
};

function literalText(node: ESTree.Expression): string | undefined {
  if (node.type === "Literal" && typeof node.value === "string") return node.value;
  if (node.type !== "TemplateLiteral" || node.expressions.length > 0) return undefined;
  return node.quasis[0]?.value.cooked ?? undefined;
}

/** A computed specifier could name any package, so only tests may have one. */
function reportUndecidable(context: Context, node: ESTree.Node): void {
  if (isTestFile(repositoryPath(context))) return;
  context.report({
    node,
    message: "import() needs a literal specifier, so that the dependency rule can judge it",
  });
}
