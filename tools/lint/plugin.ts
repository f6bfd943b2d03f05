import { dependencyDirection } from "./rules/dependency-direction.ts";
import { documentedExports } from "./rules/documented-exports.ts";
import { fileName } from "./rules/file-name.ts";
import { noEmptyCatch } from "./rules/no-empty-catch.ts";
import { ownName } from "./rules/own-name.ts";
import { plainModules } from "./rules/plain-modules.ts";
import { plainWords } from "./rules/plain-words.ts";
import { systemAccess } from "./rules/system-access.ts";
import { unitNames } from "./rules/unit-names.ts";

// oxlint-disable-next-line import/no-default-export -- oxlint takes a plugin from the default export only
export default {
  meta: { name: "qm" },
  rules: {
    "dependency-direction": dependencyDirection,
    "documented-exports": documentedExports,
    "file-name": fileName,
    "no-empty-catch": noEmptyCatch,
    "own-name": ownName,
    "plain-modules": plainModules,
    "plain-words": plainWords,
    "system-access": systemAccess,
    "unit-names": unitNames,
  },
};
