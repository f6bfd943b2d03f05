import { ApiError } from "@quartermaster/runtime";

import { type ReconcileWrite, textOfWrite } from "./reconcile-write.ts";
import type { RecordedReconcile } from "./recorded-reconcile.ts";

/** Work that writes, over objects of its own: each start is a new one. */
export interface RecordedWork {
  readonly api: RecordedReconcile;
  readonly run: () => Promise<void>;
  /** Whether two end states are the same (default: equal in everything but uids and versions). */
  readonly isSame?: ((one: object, other: object) => boolean) | undefined;
}

/** How a write ends: before the server acted, or after, with the response lost. */
export type Fate = "refused" | "response lost";

/** What became of work that was interrupted at one of its writes. */
export interface Interruption {
  /** The write, as `textOfWrite` shows it. */
  readonly write: string;
  readonly fate: Fate;
  /** Writes that followed in the same run. */
  readonly after: readonly string[];
  /** Whether a second run brings it to where an uninterrupted one ends. */
  readonly isRepeatable: boolean;
}

/** Runs work once for each of its writes and each fate, then once more without a fault. */
export async function interruptEachWrite(
  start: () => RecordedWork | Promise<RecordedWork>,
): Promise<readonly Interruption[]> {
  const whole = await start();
  await whole.run();
  const results: Interruption[] = [];
  for (const at of whole.api.writes.keys())
    for (const fate of ["refused", "response lost"] as const)
      results.push(await interrupted(await start(), { at, fate, end: whole.api.state() }));
  return results;
}

async function interrupted(
  { api, run, isSame = isEqual }: RecordedWork,
  { at, fate, end }: { readonly at: number; readonly fate: Fate; readonly end: object },
): Promise<Interruption> {
  const fail = (_write: ReconcileWrite, now: number): void => {
    if (now === at) throw new ApiError("interrupted", { class: "transient", mayHaveActed: true });
  };
  api.hook(fate === "refused" ? { before: fail } : { after: fail });
  await settled(run);
  const after = api.writes.slice(at + 1).map(textOfWrite);
  const [write = ""] = api.writes.slice(at, at + 1).map(textOfWrite);
  api.hook({});
  await settled(run);
  return { write, fate, after, isRepeatable: isSame(api.state(), end) };
}

/** A write that was carried out although another client had put another object in the place of the one that was meant. */
export async function writesUponOthers(
  start: () => RecordedWork | Promise<RecordedWork>,
  act: "edit" | "replace" = "replace",
): Promise<readonly string[]> {
  const whole = await start();
  await whole.run();
  const wrong: string[] = [];
  for (const [at, write] of whole.api.writes.entries()) {
    if (write.verb !== "patch" && write.verb !== "delete") continue;
    const { api, run } = await start();
    let theirs: ReturnType<RecordedReconcile["interfere"]>;
    const before = (each: ReconcileWrite, now: number): void => {
      if (now === at) theirs = api.interfere(each, act);
    };
    api.hook({ before });
    await settled(run);
    if (theirs !== undefined && api.read(theirs, theirs.metadata) !== theirs) wrong.push(textOfWrite(write));
  }
  return wrong;
}

/** A failure is expected here: what counts is what is left. */
async function settled(run: () => Promise<void>): Promise<void> {
  await Promise.allSettled([run()]);
}

function isEqual(one: object, other: object): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
