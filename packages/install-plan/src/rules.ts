import { applying } from "./apply/applying.ts";
import { replaced } from "./handover/replaced.ts";
import { steady } from "./installed/installed.ts";
import { beforeFirstWrite } from "./preflight/before-first-write.ts";
import type { PlanRule } from "./report/plan-verdict.ts";

/** The table of contents of plans: the first rule that answers decides. */
export const rules: readonly PlanRule[] = [...replaced, ...beforeFirstWrite, ...applying, ...steady];
