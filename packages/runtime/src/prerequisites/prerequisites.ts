import type { InformerRequest } from "../informers/informer-pool.ts";
import type { ReadStore } from "../store/object-store.ts";

/**
 * What must hold before controllers act, e.g. the versions of CustomResourceDefinitions. It is watched: while it does not hold, a
 * replica is not ready, does not take part in the election and writes nothing; it continues automatically.
 */
export interface Prerequisites {
  readonly requests: readonly InformerRequest[];
  /** One sentence for each problem, with its remedy. One store per request, each with its first list. */
  readonly problemsIn: (stores: readonly ReadStore[]) => readonly string[];
}

/** State of the prerequisites. `unknown`: the first lists are not complete. */
export type PrerequisiteState =
  | { readonly kind: "unknown" }
  | { readonly kind: "met" }
  | { readonly kind: "unmet"; readonly problems: readonly string[] };

/** One watched kind, as far as the decision needs it. */
export interface PrerequisiteSource {
  /** Kind and group, for the message. */
  readonly kind: string;
  readonly isForbidden: boolean;
  /** Undefined while the first list is not complete. */
  readonly store: ReadStore | undefined;
}

/** Decides whether controllers may act. What may not be watched cannot be checked, and is a problem of its own. */
export function prerequisiteState(
  sources: readonly PrerequisiteSource[],
  problemsIn: Prerequisites["problemsIn"],
): PrerequisiteState {
  const forbidden = sources.filter(({ isForbidden }) => isForbidden).map(({ kind }) => kind);
  if (forbidden.length > 0)
    return {
      kind: "unmet",
      problems: [
        `The operator may not list and watch ${forbidden.join(" and ")}, so that it cannot check the installation. Apply its permissions again.`,
      ],
    };
  const stores = sources.flatMap(({ store }) => (store === undefined ? [] : [store]));
  if (stores.length < sources.length) return { kind: "unknown" };
  const problems = problemsIn(stores);
  return problems.length === 0 ? { kind: "met" } : { kind: "unmet", problems };
}
