import { namesObject, namesResource, type PolicyRule } from "./policy-rule.ts";
import { sortRights, type Right } from "./rights.ts";

/** What the server told about an account's rights in one place. */
export interface RulesReview {
  readonly rules: readonly PolicyRule[];
  /** There may be more than what is listed, e.g. behind a webhook. */
  readonly isIncomplete: boolean;
}

/** The answers by namespace; `wholeCluster` for rights that no namespace limits. */
export type RulesReviews = ReadonlyMap<string, RulesReview>;

/** The key of the review that counts for cluster-wide objects. */
export const wholeCluster = "";

/** The rights that an account lacks, and those that only an access review can tell. */
export interface RightsFinding {
  readonly missing: readonly Right[];
  readonly doubtful: readonly Right[];
}

/**
 * Compares what is needed with what the server listed. A right that is listed is held; one that is not listed is missing, or
 * doubtful where the list is incomplete or was not asked for. Where no name of a kind is allowed at all, the right is reported
 * once, without a name.
 */
export function missingRights(needed: readonly Right[], reviews: RulesReviews): RightsFinding {
  const candidates = new Map<string, readonly PolicyRule[]>();
  const candidatesFor = (right: Right): readonly PolicyRule[] => {
    const key = [right.namespace, right.verb, right.group, right.resource].join("\u0000");
    const known = candidates.get(key);
    if (known !== undefined) return known;
    const rules = rulesIn(reviews, right).filter((rule) => namesResource(rule, right));
    candidates.set(key, rules);
    return rules;
  };
  const lacking = needed.filter(
    (right) => !candidatesFor(right).some((rule) => namesObject(rule, right.name)),
  );
  const isDoubtful = (right: Right): boolean => reviewFor(reviews, right)?.isIncomplete ?? true;
  return {
    missing: sortRights(
      lacking
        .filter((right) => !isDoubtful(right))
        .map((right) => (candidatesFor(right).length === 0 ? withoutName(right) : right)),
    ),
    doubtful: sortRights(lacking.filter(isDoubtful)),
  };
}

/** Whether the reviews say that the account holds this right. */
export function holdsRight(right: Right, reviews: RulesReviews): boolean {
  return rulesIn(reviews, right).some((rule) => namesResource(rule, right) && namesObject(rule, right.name));
}

/** The rules that count where the right is needed. */
export function rulesIn(reviews: RulesReviews, place: Pick<Right, "namespace">): readonly PolicyRule[] {
  return reviewFor(reviews, place)?.rules ?? [];
}

function reviewFor(reviews: RulesReviews, { namespace }: Pick<Right, "namespace">): RulesReview | undefined {
  return reviews.get(namespace ?? wholeCluster);
}

function withoutName({ name: _name, ...right }: Right): Right {
  return right;
}
