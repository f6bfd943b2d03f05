import type { Context, CreateRule, ESTree } from "@oxlint/plugins";

import { isTestFile } from "../import-breach.ts";
import { repositoryPath } from "../repository-path.ts";

/** Reports exported declarations without a doc comment right above them; tests are free of it. */
export const documentedExports: CreateRule = {
  create(context) {
    if (isTestFile(repositoryPath(context))) return {};
    return {
      ExportNamedDeclaration(node) {
        if (node.declaration === null || isDocumented(context, node)) return;
        context.report({
          node,
          message: "an export needs a doc comment of one to three lines: contract, default, unit",
        });
      },
    };
  },
};

function isDocumented(context: Context, node: ESTree.Node): boolean {
  const comment = context.sourceCode.getCommentsBefore(node).at(-1);
  return comment !== undefined && comment.type === "Block" && comment.value.startsWith("*");
}
