import type { Rule } from "@quartermaster/runtime";

import { applying } from "./apply/applying.ts";
import { replaced } from "./handover/replaced.ts";
import { installed } from "./installed/installed.ts";
import type { PlanAction } from "./plan-action.ts";
import { beforeFirstWrite } from "./preflight/before-first-write.ts";
import { reported } from "./report/reported.ts";
import type { Seen } from "./seen.ts";

/** The table of contents of plans: the first rule that does not pass decides. */
export const rules: readonly Rule<Seen, PlanAction>[] = [
  ...replaced,
  ...beforeFirstWrite,
  ...applying,
  ...installed,
].map(reported);
