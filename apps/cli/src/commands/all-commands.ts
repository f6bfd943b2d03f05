import type { Command } from "../command.ts";
import { bundleExplainCommand } from "./bundle-explain.ts";
import { bundleStatusCommand } from "./bundle-status.ts";
import { completionCommand } from "./completion.ts";
import { doctorCommand } from "./doctor.ts";
import { licenseExplainCommand } from "./license-explain.ts";
import { licenseExportCommand } from "./license-export.ts";
import { licenseImportCommand } from "./license-import.ts";
import { licensePreviewCommand } from "./license-preview.ts";
import { licenseStatusCommand } from "./license-status.ts";
import { packCommand } from "./pack.ts";
import { planApproveCommand } from "./plan-approve.ts";
import { planDiffCommand } from "./plan-diff.ts";
import { planExplainCommand } from "./plan-explain.ts";
import { planListCommand } from "./plan-list.ts";
import { planRbacCommand } from "./plan-rbac.ts";
import { planRestoreCommand } from "./plan-restore.ts";
import { planRetryCommand } from "./plan-retry.ts";
import { planRollbackCommand } from "./plan-rollback.ts";
import { planStatusCommand } from "./plan-status.ts";
import { planTrustCommand } from "./plan-trust.ts";
import { planValidateCommand } from "./plan-validate.ts";
import { searchDashboardsCommand } from "./search-dashboards.ts";
import { searchExplainCommand } from "./search-explain.ts";
import { searchPlanCommand } from "./search-plan.ts";
import { searchRestartCommand } from "./search-restart.ts";
import { searchStatusCommand } from "./search-status.ts";
import { uninstallCommand } from "./uninstall.ts";
import { versionCommand } from "./version.ts";

/** Every command, in the order of the help. */
export const allCommands: readonly Command[] = [
  packCommand,
  planDiffCommand,
  planStatusCommand,
  planExplainCommand,
  planApproveCommand,
  planRetryCommand,
  planRollbackCommand,
  planTrustCommand,
  planRestoreCommand,
  planValidateCommand,
  planRbacCommand,
  planListCommand,
  bundleExplainCommand,
  bundleStatusCommand,
  searchStatusCommand,
  searchExplainCommand,
  searchPlanCommand,
  searchRestartCommand,
  searchDashboardsCommand,
  licenseImportCommand,
  licenseExportCommand,
  licenseExplainCommand,
  licensePreviewCommand,
  licenseStatusCommand,
  doctorCommand,
  uninstallCommand,
  completionCommand(() => allCommands),
  versionCommand,
];
