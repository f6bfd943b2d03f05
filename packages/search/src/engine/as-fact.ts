import { printable } from "@quartermaster/runtime";

import { EngineError } from "./engine-error.ts";
import type { Fact } from "./engine-facts.ts";

/** An answer as a fact: what fails is unknown with the reason, and never taken for empty. Faults of ours still throw. */
export async function asFact<T>(answer: Promise<T>, atMs: number): Promise<Fact<T>> {
  try {
    return { isKnown: true, value: await answer, atMs };
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    return { isKnown: false, why: printable(error.message) };
  }
}
