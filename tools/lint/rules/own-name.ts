import type { CreateRule, ESTree } from "@oxlint/plugins";

import { findOwnNameIssue } from "../own-name-issue.ts";
import { repositoryPath } from "../repository-path.ts";

/** Reports source files none of whose exports has the file's name. */
export const ownName: CreateRule = {
  create(context) {
    const file = repositoryPath(context);
    if (!/^(?:packages|apps)\/[^/]+\/src\//.test(file) || file.endsWith(".d.ts")) return {};
    const exports: string[] = [];
    return {
      ExportNamedDeclaration({ declaration, specifiers }) {
        exports.push(...declaredNames(declaration), ...specifiers.flatMap(exportedName));
      },
      "Program:exit"(node) {
        const message = findOwnNameIssue({ file, exports });
        if (message !== undefined) context.report({ node, message });
      },
    };
  },
};

/** Names that an exported declaration declares. */
export function declaredNames(declaration: ESTree.ExportNamedDeclaration["declaration"]): readonly string[] {
  if (declaration === null) return [];
  if (declaration.type === "VariableDeclaration")
    return declaration.declarations.flatMap(({ id }) => (id.type === "Identifier" ? [id.name] : []));
  return "id" in declaration && declaration.id?.type === "Identifier" ? [declaration.id.name] : [];
}

function exportedName({ exported }: ESTree.ExportSpecifier): readonly string[] {
  return exported.type === "Identifier" ? [exported.name] : [];
}
