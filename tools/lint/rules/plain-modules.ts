import type { CreateRule } from "@oxlint/plugins";

/** Reports `enum`, `namespace` and `export *`: unions, modules and a written list of exports say the same plainly. */
export const plainModules: CreateRule = {
  create(context) {
    return {
      TSEnumDeclaration: (node) => context.report({ node, message: "no enum: use a union of strings" }),
      TSModuleDeclaration: (node) => {
        // `declare module "x"` adds to the types of another module; there is no other way to say it.
        if (node.id.type !== "Literal") context.report({ node, message: "no namespace: use a module" });
      },
      ExportAllDeclaration: (node) =>
        context.report({ node, message: "no export *: list the exported names" }),
    };
  },
};
