export { conditionalWrites } from "../client/conditional-writes.ts";
export { conditionsFor } from "../reconcile/condition.ts";
export { VirtualSystem } from "./virtual-system.ts";
export type { VirtualSystemOptions } from "./virtual-system.ts";
export { wokenBy } from "./woken-by.ts";
