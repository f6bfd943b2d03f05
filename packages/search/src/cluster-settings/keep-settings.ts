import { ExternalError } from "@quartermaster/runtime";

import type { EngineClient } from "../engine/engine-client.ts";
import { EngineError } from "../engine/engine-error.ts";
import type { PerformContext } from "../perform-context.ts";
import { searchReasons } from "../reasons.ts";
import type { ActionOf } from "../search-action.ts";
import { planSettings } from "./cluster-settings-lane.ts";

type Changes = Readonly<Record<string, string | null>>;

/** Sets and resets in one call. Decided once more by what cluster and engine say now. */
export async function keepSettings(
  { put, drop }: ActionOf<"keepSettings">,
  context: PerformContext,
): Promise<void> {
  const { cluster, findCluster, seen } = context;
  const engine = context.engine();
  const live = await findCluster();
  const isSame =
    live?.metadata.uid === cluster.uid && live.metadata.generation === seen?.object.metadata.generation;
  const plan = isSame
    ? planSettings({ cluster, status: live.status ?? {} }, await engine.settings())
    : undefined;
  // Whatever follows, what is known of the engine is old.
  context.resample();
  // An entry that exists by now, because our last response was lost, need not be written again.
  const missing = put.filter((key) => plan?.put.includes(key) === true);
  if (plan === undefined || drop.some((key) => !plan.drop.includes(key)))
    throw new EngineError("The cluster or its settings were changed meanwhile.", {
      code: "conflict",
      mayHaveActed: false,
    });
  const changes = Object.fromEntries([
    ...missing.map((key) => [key, cluster.dynamicSettings[key] ?? null] as const),
    ...drop.map((key) => [key, null] as const),
  ]);
  if (Object.keys(changes).length > 0) await putChanges(changes, engine);
  context.resample();
}

/** The engine takes all or none: those that it refuses must not keep the others back. */
async function putChanges(changes: Changes, engine: EngineClient): Promise<void> {
  if (await isTaken(changes, engine)) return;
  const refused: string[] = [];
  for (const [key, value] of Object.entries(changes))
    if (!(await isTaken({ [key]: value }, engine))) refused.push(key);
  if (refused.length === 0) return;
  throw new ExternalError(
    `The engine refuses these of spec.general.clusterSettings: ${refused.slice(0, 10).join(", ")}. Only dynamic settings can be changed while nodes run; others belong into additionalConfig.`,
    { class: "refused", reason: searchReasons.settingRefused },
  );
}

async function isTaken(persistent: Changes, engine: EngineClient): Promise<boolean> {
  try {
    await engine.putSettings({ persistent });
    return true;
  } catch (error) {
    if (error instanceof EngineError && error.code === "invalid") return false;
    throw error;
  }
}
