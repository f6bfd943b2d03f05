export { checkExpression } from "./expression.ts";
export { healthOf } from "./health-of.ts";
export { opensGate, worse, worstFirst } from "./health.ts";
export type { Health, HealthFacts, HealthState, Readiness, ReadinessCheck, ResourceState } from "./health.ts";
export { linearPattern } from "./linear-pattern.ts";
export type { LinearPattern } from "./linear-pattern.ts";
export { podTroubleOf } from "./pod-trouble.ts";
export type { PodTrouble } from "./pod-trouble.ts";
export { trueCondition } from "./read-conditions.ts";
