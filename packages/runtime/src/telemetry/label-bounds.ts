/** Which values a label may have: a closed list, or any up to a number of different ones. The rest becomes `other`. */
export type LabelRule = readonly string[] | { readonly atMost: number };

/** The labels of a series by name. */
export type SeriesLabels = Readonly<Record<string, LabelRule>>;

/** A value for each label of a series. */
export type LabelsOf<L extends SeriesLabels> = {
  readonly [K in keyof L]: L[K] extends readonly (infer V extends string)[] ? V : string;
};

/** Replaces a value that is not in its list, came after the limit was reached, or is too long. */
const otherValue = "other";

/** Series that one metric may have. More would burden every Prometheus that scrapes us. */
const combinationLimit = 10_000;

/** A name of a Kubernetes object has at most this many characters. */
const lengthLimit = 253;

/**
 * Keeps the labels of one metric within their bounds, regardless of who decides upon the values: what users write can
 * neither add series without end nor make one of them long.
 */
export class LabelBounds {
  readonly #rules: readonly (readonly [string, LabelRule])[];
  readonly #seen = new Map<string, Set<string>>();

  /** Throws RangeError when the bounds together allow more than 10,000 series. */
  constructor(labels: SeriesLabels) {
    this.#rules = Object.entries(labels);
    const most = this.#rules.reduce((product, [, rule]) => product * sizeOf(rule), 1);
    if (most > combinationLimit) {
      const names = this.#rules.map(([name]) => name).join(", ");
      throw new RangeError(`labels ${names} allow ${most} series, which is more than ${combinationLimit}`);
    }
  }

  /** The names of the labels. */
  names(): string[] {
    return this.#rules.map(([name]) => name);
  }

  /** The labels with every value inside its bounds; a label without a value has `other`. */
  bounded(labels: Readonly<Record<string, string>>): Record<string, string> {
    return Object.fromEntries(
      this.#rules.map(([name, rule]) => [name, this.#boundedValue(name, rule, labels[name])]),
    );
  }

  /** Every combination, where all labels have closed lists; none otherwise. */
  combinations(): readonly Record<string, string>[] {
    return this.#rules.reduce<readonly Record<string, string>[]>(
      (found, [name, rule]) =>
        found.flatMap((labels) =>
          isClosed(rule) ? rule.map((value) => ({ ...labels, [name]: value })) : [],
        ),
      [{}],
    );
  }

  /** Forgets the values seen so far, for metrics that are read afresh each time. */
  forget(): void {
    this.#seen.clear();
  }

  #boundedValue(name: string, rule: LabelRule, value: string | undefined): string {
    if (value === undefined || value.length > lengthLimit) return otherValue;
    if (isClosed(rule)) return rule.includes(value) ? value : otherValue;
    const seen = this.#seen.get(name) ?? new Set<string>();
    this.#seen.set(name, seen);
    if (seen.has(value)) return value;
    if (seen.size >= rule.atMost) return otherValue;
    seen.add(value);
    return value;
  }
}

function sizeOf(rule: LabelRule): number {
  return (isClosed(rule) ? rule.length : rule.atMost) + 1;
}

function isClosed(rule: LabelRule): rule is readonly string[] {
  return Array.isArray(rule);
}
