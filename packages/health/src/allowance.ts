import {
  celError,
  celFunc,
  type CelFunc,
  CelScalar,
  type CelValue,
  isCelList,
  isCelMap,
} from "@bufbuild/cel";

/** Function that lets a loop pay for what it runs over. Like all names with `@`, no author can write it. */
export const itemsMeter = "@items";
/** Function that lets a call or comparison pay for what it is given. */
export const valueMeter = "@value";

/** Maximum cost of one evaluation; some ten milliseconds. */
const steps = 20_000;
/** The least that one turn of a loop costs, in reads of a value. */
const stepsPerItem = 10;
const charactersPerStep = 100;

/** One for all: each turn of a loop may meet it again, and making an error is dear. */
const spent = celError("it takes too many steps on this object");

/** The steps that are left to one evaluation. Every step after the last one is an error of the expression. */
export class Allowance {
  #left = 0;

  /** To be had by the expression's environment. */
  readonly functions: readonly CelFunc[] = [
    celFunc(itemsMeter, [CelScalar.DYN, CelScalar.INT], CelScalar.DYN, (value, weight) =>
      this.#itemsOf(value, Number(weight)),
    ),
    celFunc(valueMeter, [CelScalar.DYN], CelScalar.DYN, (value) => this.#wholeOf(value)),
  ];

  /** Whether the evaluation requested more than it had, also where the expression continued without the response. */
  get isSpent(): boolean {
    return this.#left < 0;
  }

  /** Before each evaluation. */
  renew(): void {
    this.#left = steps;
  }

  /** Pays, or ends the evaluation. To be called before the work is done. */
  take(count: number): void {
    this.#left -= count;
    if (this.#left < 0) throw spent;
  }

  /** Pays for a result. What is in a list was paid for when it was made. */
  takeResult(value: unknown): void {
    if (isCelList(value) || isCelMap(value)) this.take(value.size / stepsPerItem);
    else this.take(lengthOf(value) / charactersPerStep);
  }

  /** Paid in advance, because a loop copies what it runs over before its first turn. */
  #itemsOf(value: CelValue, weight: number): CelValue {
    if (isCelList(value) || isCelMap(value)) this.take(value.size * Math.max(stepsPerItem, weight));
    return value;
  }

  /** Comparing and searching walk through the whole value; so does this, and stops where the allowance ends. */
  #wholeOf(value: CelValue): CelValue {
    const open: CelValue[] = [value];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      this.take(1 + lengthOf(next) / charactersPerStep);
      if (!isCelList(next) && !isCelMap(next)) continue;
      this.take(next.size);
      for (const inner of next.values()) open.push(inner);
    }
    return value;
  }
}

function lengthOf(value: unknown): number {
  return typeof value === "string" || value instanceof Uint8Array ? value.length : 0;
}
