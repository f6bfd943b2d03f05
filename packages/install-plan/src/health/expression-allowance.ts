import { celFunc, type CelFunc, CelScalar, type CelValue, isCelList, isCelMap } from "@bufbuild/cel";

/** Function that lets a loop pay for what it runs over. Like all names with `@`, no author can write it. */
export const itemsMeter = "@items";
/** Function that lets a call or comparison pay for what it is given. */
export const valueMeter = "@value";

/** What one evaluation may cost; about ten milliseconds. */
const steps = 20_000;
/** One turn of a loop against one look at a value. */
const stepsPerItem = 10;
const charactersPerStep = 500;

/** The steps that are left to one evaluation. Every step after the last one is an error of the expression. */
export class Allowance {
  #left = 0;

  /** To be had by the expression's environment. */
  readonly functions: readonly CelFunc[] = [
    celFunc(itemsMeter, [CelScalar.DYN], CelScalar.DYN, (value) => this.#itemsOf(value)),
    celFunc(valueMeter, [CelScalar.DYN], CelScalar.DYN, (value) => this.#wholeOf(value)),
  ];

  /** Before each evaluation. */
  renew(): void {
    this.#left = steps;
  }

  /** Paid in advance, because a loop copies what it runs over before its first turn. */
  #itemsOf(value: CelValue): CelValue {
    if (isCelList(value) || isCelMap(value)) this.#take(value.size * stepsPerItem);
    return value;
  }

  /** Comparing and searching walk through the whole value; so does this, and stops where the allowance ends. */
  #wholeOf(value: CelValue): CelValue {
    const open: CelValue[] = [value];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      this.#take(typeof next === "string" ? 1 + next.length / charactersPerStep : 1);
      if (!isCelList(next) && !isCelMap(next)) continue;
      this.#take(next.size);
      open.push(...next.values());
    }
    return value;
  }

  #take(count: number): void {
    this.#left -= count;
    if (this.#left < 0) throw new RangeError("it takes too many steps on this object");
  }
}
