import type { CreateRule } from "@oxlint/plugins";

import { findFileNameIssue } from "../file-name-issue.ts";
import { repositoryPath } from "../repository-path.ts";

/** Reports paths that are not kebab-case or that name no content (utils, helpers, common, misc, types). */
export const fileName: CreateRule = {
  create(context) {
    return {
      Program(node) {
        const message = findFileNameIssue(repositoryPath(context));
        if (message !== undefined) context.report({ node, message });
      },
    };
  },
};
