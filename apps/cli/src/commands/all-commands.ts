import type { Command } from "../command.ts";
import { bundleExplainCommand } from "./bundle-explain.ts";
import { bundleStatusCommand } from "./bundle-status.ts";
import { packCommand } from "./pack.ts";
import { planApproveCommand } from "./plan-approve.ts";
import { planDiffCommand } from "./plan-diff.ts";
import { planExplainCommand } from "./plan-explain.ts";
import { planRollbackCommand } from "./plan-rollback.ts";
import { planStatusCommand } from "./plan-status.ts";
import { planValidateCommand } from "./plan-validate.ts";
import { versionCommand } from "./version.ts";

/** Every command, in the order of the help. */
export const allCommands: readonly Command[] = [
  packCommand,
  planDiffCommand,
  planStatusCommand,
  planExplainCommand,
  planApproveCommand,
  planRollbackCommand,
  planValidateCommand,
  bundleExplainCommand,
  bundleStatusCommand,
  versionCommand,
];
