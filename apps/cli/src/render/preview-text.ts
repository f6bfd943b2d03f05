import type { InstallPlan } from "@quartermaster/api";

import { objectTitle } from "./object-title.ts";

const actions = ["create", "update", "adopt", "takeover", "recreate", "delete", "deferred", "noop"] as const;

/** What a plan is going to do, by its own preview: numbers, then the objects it lists. */
export function previewText({ status }: InstallPlan): string {
  const preview = status?.preview;
  if (preview === undefined) return "no preview yet";
  const numbers = actions
    .filter((action) => preview[action] > 0)
    .map((action) => `${preview[action]} ${action}`);
  const details = (preview.details ?? [])
    .filter(({ action }) => action !== "noop")
    .map(({ action, object }) => `  ${action} ${objectTitle(object)}`);
  return [numbers.join(", ") || "no changes", ...details].join("\n");
}
