import type { Verdict } from "./outcome.ts";

/** A rule answers for the world it is shown, or passes. It does no I/O and reads no clock. */
export interface Rule<Seen, Action> {
  /** For the situation it answers, e.g. `quorumLost`. */
  readonly name: string;
  readonly answer: (seen: Seen, now: Date) => Verdict<Action> | undefined;
}

/** What the first rule that does not pass says. Throws when all pass: the last rule of a recipe must always answer. */
export function firstAnswer<Seen, Action>(
  rules: readonly Rule<Seen, Action>[],
  seen: Seen,
  now: Date,
): { readonly rule: Rule<Seen, Action>; readonly verdict: Verdict<Action> } {
  for (const rule of rules) {
    const verdict = rule.answer(seen, now);
    if (verdict !== undefined) return { rule, verdict };
  }
  throw new TypeError("no rule answered: the last one must always");
}
