import {
  celEnv,
  type CelEnv,
  celError,
  type CelError,
  celFunc,
  type CelFunc,
  celList,
  type CelList,
  celMethod,
  CelScalar,
  type CelValue,
  isCelError,
  listType,
} from "@bufbuild/cel";
import { strings } from "@bufbuild/cel/ext";

import type { Allowance } from "./allowance.ts";
import { linearPattern } from "./linear-pattern.ts";

/** The functions of expressions, each of which pays for its work before it is done and for its result after it. */
export function meteredEnv(allowance: Allowance): CelEnv {
  const funcs = [...strings, ...ownFunctions(allowance)];
  const plain = celEnv({ funcs, re2: patternsWithin(allowance) });
  return celEnv({
    funcs: [...[...plain.funcs].map((func) => metered(func, allowance)), ...allowance.functions],
  });
}

/** Steps that a function takes beyond looking at what it is given; `text` is what it works on. */
type Surcharge = (text: string, args: readonly CelValue[]) => number;

/** The library walks texts character by character, or turns them into lists of characters. */
const perCharacter: Surcharge = (text) => text.length / 20;
/** A search compares the whole of what it looks for at each place at worst. */
const search: Surcharge = (text, [wanted]) =>
  typeof wanted === "string" ? (text.length * wanted.length) / 25_000 : 0;
/** Turning a long text into a number or a time takes more than linear time. */
const conversion: Surcharge = (text) => text.length;

const surcharges: ReadonlyMap<string, Surcharge> = new Map([
  ["size", perCharacter],
  ["lowerAscii", perCharacter],
  ["upperAscii", perCharacter],
  ["trim", perCharacter],
  ["strings.quote", perCharacter],
  ["bytes", perCharacter],
  ["contains", search],
  ["indexOf", search],
  ["lastIndexOf", search],
  ["split", (text, args) => text.length / 10 + search(text, args)],
  // A number takes a formatter of its own.
  ["format", (text) => text.length / 10 + (text.split("%").length - 1) * 20],
  ["matches", (text) => text.length / 10],
  ...["int", "uint", "double", "bool", "timestamp", "duration"].map((name) => [name, conversion] as const),
]);

function metered(func: CelFunc, allowance: Allowance): CelFunc {
  const surcharge = surcharges.get(func.name);
  const call: CelFunc["call"] = (id, target, args) => {
    const text = target ?? args[0];
    const isMeant =
      args.length === func.arguments.length && (func.target ?? func.arguments[0]) === CelScalar.STRING;
    const pay = (): void => {
      if (surcharge === undefined || !isMeant || typeof text !== "string") return;
      allowance.take(surcharge(text, target === undefined ? args.slice(1) : args));
    };
    const paid = attempt(pay);
    if (paid !== undefined) return paid;
    const result = func.call(id, target, args);
    if (result === undefined || isCelError(result)) return result;
    return (
      attempt(() => {
        allowance.takeResult(result);
      }) ?? result
    );
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- everything but the call is the function's own
  return Object.create(func, { call: { value: call } }) as CelFunc;
}

/** Its exceptions become errors of the expression. */
function attempt(work: () => void): CelError | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return celError(error);
  }
}

const { STRING, INT, DYN } = CelScalar;
const list = listType(DYN);

/** In place of the library's: those copy the whole text for each replacement, and nest one list in the other. */
function ownFunctions(allowance: Allowance): readonly CelFunc[] {
  const replace = (text: string, [wanted, by]: readonly [string, string], most?: bigint): string => {
    allowance.take(search(text, [wanted]) + text.length / 20);
    const limit = most === undefined || most < 0n ? Number.POSITIVE_INFINITY : Number(most);
    const parts = wanted === "" ? betweenCharacters(text, limit) : splitAt(text, wanted, limit);
    allowance.take((text.length + parts.length * by.length) / 100 + parts.length / 10);
    return parts.join(by);
  };
  const join = (items: CelList, separator: string): string => {
    allowance.take((items.size * separator.length) / 100);
    const texts = [...items].map((item) => {
      if (typeof item === "string") return item;
      throw new TypeError("invalid argument to function join: list contains non-string value");
    });
    return texts.join(separator);
  };
  return [
    celMethod("replace", STRING, [STRING, STRING], STRING, function (wanted, by) {
      return replace(this, [wanted, by]);
    }),
    celMethod("replace", STRING, [STRING, STRING, INT], STRING, function (wanted, by, most) {
      return replace(this, [wanted, by], most);
    }),
    celMethod("join", list, [], STRING, function () {
      return join(this, "");
    }),
    celMethod("join", list, [STRING], STRING, function (separator) {
      return join(this, separator);
    }),
    celFunc("_+_", [list, list], list, (one, other) => {
      allowance.take((one.size + other.size) / 20);
      return celList([...one, ...other]);
    }),
    celFunc("_+_", [STRING, STRING], STRING, (one, other) => {
      allowance.take((one.length + other.length) / 100);
      return one + other;
    }),
  ];
}

function splitAt(text: string, wanted: string, most: number): readonly string[] {
  const parts: string[] = [];
  let from = 0;
  for (let at = text.indexOf(wanted); at !== -1 && parts.length < most; at = text.indexOf(wanted, from)) {
    parts.push(text.slice(from, at));
    from = at + wanted.length;
  }
  return [...parts, text.slice(from)];
}

/** As Go does it: before each character and at the end. */
function betweenCharacters(text: string, most: number): readonly string[] {
  const characters = Array.from(text);
  const parts = ["", ...characters].slice(0, most);
  return [...parts, characters.slice(Math.max(0, parts.length - 1)).join("")];
}

function patternsWithin(allowance: Allowance): NonNullable<NonNullable<Parameters<typeof celEnv>[0]>["re2"]> {
  return {
    compile: (pattern) => {
      const compiled = linearPattern(pattern);
      if (typeof compiled === "string") throw new RangeError(compiled);
      // Each state of the match may hold all instructions.
      allowance.take(compiled.size * 4);
      const test = (text: string): boolean =>
        compiled.test(text, () => {
          allowance.take((text.length * compiled.size) / 50);
        });
      return { test };
    },
  };
}
