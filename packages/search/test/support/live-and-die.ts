import {
  type Access,
  eventually,
  isWritePoint,
  type SeenRequest,
  startFaultProxy,
} from "@quartermaster/testkit";

/** A crash, and at which write of a life: before the first one no life would ever get anywhere. */
export type Crash = readonly ["crash-after-commit" | "crash-after-answer" | "crash-before", number];

/** The kinds of crash, the hardest first: a response that is lost. */
export const allCrashes: readonly [Crash, ...Crash[]] = [
  ["crash-after-commit", 1],
  ["crash-after-answer", 1],
  ["crash-before", 2],
];

/** An operator that can be started and killed. */
export interface Mortal {
  /** Who it speaks as. */
  readonly operator: Access;
  operate(access: Access): Promise<void>;
  stop(): Promise<void>;
}

/** More lives than that are an endless loop. */
const mostLives = 250;

/** A crash of the same kind in every life. */
export function everyWrite(crash: Crash): readonly Crash[] {
  return Array.from({ length: mostLives }, () => crash);
}

/** Crashes of all kinds by turns, beginning with one of them, in every life. */
export function byTurns(first: number): readonly Crash[] {
  const kinds = allCrashes.map((_, at) => allCrashes[(first + at) % allCrashes.length] ?? allCrashes[0]);
  return Array.from({ length: Math.ceil(mostLives / kinds.length) }, () => kinds).flat();
}

/** Lets an operator live and die, one write a life, until the demand is met. Gives the number of lives. */
export async function liveAndDie(
  mortal: Mortal,
  crash: Crash,
  isDone: () => Promise<boolean>,
): Promise<number> {
  return await liveThrough(mortal, everyWrite(crash), isDone);
}

/** The same with these crashes, one a life; with none left, the last life continues until the demand is met. */
export async function liveThrough(
  mortal: Mortal,
  crashes: readonly Crash[],
  isDone: () => Promise<boolean>,
): Promise<number> {
  for (let lives = 1; lives <= mostLives; lives += 1) {
    const proxy = await startFaultProxy({ upstream: mortal.operator });
    const dead = Promise.withResolvers<"dead">();
    const [kind, nth] = crashes[lives - 1] ?? [];
    let writes = 0;
    const isNth = (request: SeenRequest): boolean => isWritePoint(request) && (writes += 1) === nth;
    const kill = (): void => {
      dead.resolve("dead");
    };
    if (kind !== undefined) proxy.inject(isNth, { kind, kill });
    await mortal.operate({ ...proxy.access, token: mortal.operator.token });
    const end = await Promise.race([dead.promise, done(isDone)]);
    // Nothing of this life reaches the server any more, whatever it still has in mind.
    await proxy[Symbol.asyncDispose]();
    await mortal.stop();
    if (end === "done") return lives;
  }
  throw new Error(`not done after ${String(mostLives)} lives`);
}

async function done(isDone: () => Promise<boolean>): Promise<"done" | "slow"> {
  return await eventually(async () => ((await isDone()) ? "done" : undefined), {
    withinMs: 300_000,
    everyMs: 200,
  });
}
