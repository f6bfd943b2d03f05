import type { Context, CreateRule, ESTree } from "@oxlint/plugins";

import { publicNames, readOnce } from "../public-names.ts";
import { repositoryPath } from "../repository-path.ts";
import { declaredNames } from "./own-name.ts";

/** Reports public names of packages without a doc comment right above them. */
export const documentedExports: CreateRule = {
  create(context) {
    const names = publicNames(repositoryPath(context), readOnce);
    if (names.size === 0) return {};
    return {
      ExportNamedDeclaration(node) {
        if (!declaredNames(node.declaration).some((name) => names.has(name))) return;
        if (isDocumented(context, node)) return;
        context.report({
          node,
          message: "a public name needs a doc comment of one to three lines: contract, default, unit",
        });
      },
    };
  },
};

function isDocumented(context: Context, node: ESTree.Node): boolean {
  const comment = context.sourceCode.getCommentsBefore(node).at(-1);
  return comment !== undefined && comment.type === "Block" && comment.value.startsWith("*");
}
