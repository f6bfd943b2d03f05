import type { EngineCall } from "./engine-client.ts";
import { EngineError } from "./engine-error.ts";

/** Of what several nodes failed with: the last answer of an engine, or else the last failure. Undefined when none was asked. */
export function mostTelling(failures: readonly EngineError[]): EngineError | undefined {
  return failures.findLast(({ status }) => status !== undefined) ?? failures.at(-1);
}

/** The error of a call that has nobody to ask. */
export function noPod(call: EngineCall): EngineError {
  return new EngineError(`${call}: there is no pod to ask`, { code: "unreachable", mayHaveActed: false });
}
