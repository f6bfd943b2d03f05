export { decideInjection } from "./injection/decide-injection.ts";
export { decideEphemeral } from "./injection/decide-ephemeral.ts";
