import type { CustomResource } from "@quartermaster/runtime/schema";

import { installPlan } from "./install-plan/install-plan.ts";
import { resourceManifest } from "./install-plan/resource-manifest.ts";

/** Every kind of ours; CRDs and reference pages are generated from this list. */
export const kinds: readonly CustomResource[] = [installPlan, resourceManifest];
