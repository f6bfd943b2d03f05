export { opensGate, worse, worstFirst } from "./aggregate.ts";
export type { ResourceState } from "./aggregate.ts";
export { checkExpression } from "./expression.ts";
export { healthOf } from "./health-of.ts";
export type { Health, HealthFacts, HealthState } from "./health.ts";
