import { ExternalError } from "@quartermaster/runtime";

import { EngineError } from "../engine/engine-error.ts";
import type { PerformContext } from "../perform-context.ts";
import { searchReasons } from "../reasons.ts";
import type { ActionOf } from "../search-action.ts";
import { planRepositories } from "./repositories-lane.ts";

/**
 * Registers, tries out and deregisters, each on its own: one that the engine refuses keeps none of the others back. Decided once more by
 * what cluster and engine say now; what is not decided the same way again waits for the next reconcile.
 */
export async function keepRepositories(
  action: ActionOf<"keepRepositories">,
  context: PerformContext,
): Promise<void> {
  const { cluster, findCluster, seen } = context;
  const engine = context.engine();
  const live = await findCluster();
  const isSame =
    live?.metadata.uid === cluster.uid && live.metadata.generation === seen?.object.metadata.generation;
  if (!isSame) throw changed();
  // Whatever follows, what is known of the engine is old.
  context.resample();
  const plan = planRepositories({ cluster, status: live?.status ?? {} }, await engine.repositories());
  const refusals: Refusal[] = [];
  const each = async (
    names: readonly string[],
    again: readonly string[],
    work: (name: string) => Promise<void>,
  ): Promise<void> => {
    for (const name of names) {
      if (!again.includes(name)) throw changed();
      await work(name).catch((error: unknown) => {
        refusals.push(refusalOf(name, error));
      });
    }
  };
  await each(action.drop, plan.drop, async (name) => {
    await engine.deleteRepository(name);
  });
  // An entry that exists by now, because our last response was lost, need not be written again.
  const missing = action.put.filter((name) => plan.put.includes(name));
  await each(missing, plan.put, async (name) => {
    const settings = cluster.repositories.find((repository) => repository.name === name);
    if (settings !== undefined) await engine.putRepository(settings);
  });
  await each(action.verify, plan.verify, async (name) => {
    await engine.verifyRepository(name);
  });
  context.resample();
  const [first] = refusals;
  if (first === undefined) return;
  const isUnusable = action.verify.includes(first.name);
  throw new ExternalError(isUnusable ? unusable(refusals) : refusedText(refusals), {
    class: "refused",
    reason: isUnusable ? searchReasons.repositoryUnverified : searchReasons.repositoryRefused,
  });
}

function changed(): EngineError {
  return new EngineError("The cluster or its repositories were changed meanwhile.", {
    code: "conflict",
    mayHaveActed: false,
  });
}

interface Refusal {
  readonly name: string;
  readonly type: string;
}

/** Only what the engine says of the repository; its own words may quote a response of the address behind it. */
function refusalOf(name: string, error: unknown): Refusal {
  if (error instanceof EngineError && error.code === "invalid")
    return { name, type: error.type ?? `HTTP ${String(error.status ?? 0)}` };
  throw error;
}

function listed(refusals: readonly Refusal[]): string {
  return refusals
    .slice(0, 10)
    .map(({ name, type }) => `${name} (${type})`)
    .join(", ");
}

function unusable(refusals: readonly Refusal[]): string {
  return `Nodes cannot use these snapshot repositories: ${listed(refusals)}. To see the reason, use POST _snapshot/<name>/_verify.`;
}

function refusedText(refusals: readonly Refusal[]): string {
  return `The engine refuses these snapshot repositories: ${listed(refusals)}. Check type and settings, and whether a plugin is missing or a snapshot is running.`;
}
