import type { CreateRule, ESTree } from "@oxlint/plugins";

/** Reports `catch {}` and `.catch(() => {})`, also when a comment is all they hold: an error is classified, wrapped or passed on. */
export const noEmptyCatch: CreateRule = {
  create(context) {
    const message = "an empty catch hides bugs: classify the error, add what you know, or let it pass";
    return {
      CatchClause(node) {
        if (node.body.body.length === 0) context.report({ node, message });
      },
      CallExpression(node) {
        const handler = node.arguments[0];
        if (isCatchCall(node) && handler !== undefined && doesNothing(handler))
          context.report({ node, message });
      },
    };
  },
};

function isCatchCall({ callee }: ESTree.CallExpression): boolean {
  return (
    callee.type === "MemberExpression" &&
    callee.property.type === "Identifier" &&
    callee.property.name === "catch"
  );
}

function doesNothing(handler: ESTree.Argument): boolean {
  if (handler.type !== "ArrowFunctionExpression" && handler.type !== "FunctionExpression") return false;
  const { body } = handler;
  if (body?.type === "BlockStatement") return body.body.length === 0;
  return body?.type === "Identifier" && body.name === "undefined";
}
