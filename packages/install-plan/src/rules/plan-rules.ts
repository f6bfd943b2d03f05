import { applying } from "./applying.ts";
import { beforeFirstWrite } from "./before-first-write.ts";
import { replaced } from "./replaced.ts";
import { steady } from "./steady.ts";
import type { PlanRule } from "./verdict.ts";

/** The table of contents of plans: the first rule that answers decides. */
export const planRules: readonly PlanRule[] = [...replaced, ...beforeFirstWrite, ...applying, ...steady];
