import { applying } from "./apply/applying.ts";
import { steady } from "./drift/steady.ts";
import { replaced } from "./handover/replaced.ts";
import type { PlanRule } from "./plan-verdict.ts";
import { beforeFirstWrite } from "./preflight/before-first-write.ts";

/** The table of contents of plans: the first rule that answers decides. */
export const rules: readonly PlanRule[] = [...replaced, ...beforeFirstWrite, ...applying, ...steady];
