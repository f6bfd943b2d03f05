import type { Context, CreateRule, ESTree } from "@oxlint/plugins";

import { identifierIssues, proseIssues, type WordIssue } from "../plain-words.ts";

/** Reports words in comments and texts, and names that we declare, that Kubernetes has another word for. */
export const plainWords: CreateRule = {
  create(context) {
    return {
      Program() {
        for (const comment of context.sourceCode.getAllComments())
          report(context, comment, proseIssues(comment.value));
      },
      Literal(node) {
        if (typeof node.value === "string" && node.value.includes(" "))
          report(context, node, proseIssues(node.value));
      },
      TemplateElement(node) {
        report(context, node, proseIssues(node.value.raw));
      },
      VariableDeclarator: ({ id }) => reportName(context, id),
      FunctionDeclaration: ({ id }) => reportName(context, id),
      ClassDeclaration: ({ id }) => reportName(context, id),
      TSInterfaceDeclaration: ({ id }) => reportName(context, id),
      TSTypeAliasDeclaration: ({ id }) => reportName(context, id),
    };
  },
};

function reportName(context: Context, id: ESTree.Node | null): void {
  if (id?.type === "Identifier") report(context, id, identifierIssues(id.name));
}

function report(context: Context, node: ESTree.Node | ESTree.Comment, issues: readonly WordIssue[]): void {
  for (const { word, instead } of issues) context.report({ node, message: `"${word}": write ${instead}` });
}
