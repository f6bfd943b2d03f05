import type { InstallPlan } from "@quartermaster/api";
import type { Identity } from "@quartermaster/install-plan/offline";

import { cleanText } from "../output/clean-text.ts";
import type { Change } from "./changes.ts";
import { objectTitle } from "./object-title.ts";
import { type Paint, plain } from "./paint.ts";

export interface ObjectDiff {
  readonly object: Identity;
  readonly stage: string;
  /** `deferred`: its kind is not served yet, or its namespace is to be made by the plan. `refused`: the server would not take it. `delete`: the plan takes it away once its stages are passed. */
  readonly action: "create" | "update" | "none" | "deferred" | "refused" | "delete";
  readonly changes: readonly Change[];
  /** Why it was refused, or what to mind. */
  readonly message?: string;
}

/** All differences as text; objects without any are only counted. */
export function diffText(diffs: readonly ObjectDiff[], paint: Paint = plain): string {
  const same = diffs.filter(({ action }) => action === "none").length;
  const reported = diffs.filter(({ action }) => action !== "none");
  return [
    ...reported.flatMap((diff) => linesOf(diff, paint)),
    `${reported.length} to change, ${same} unchanged`,
  ].join("\n");
}

const signs = { create: "+", update: "~", none: " ", deferred: "?", refused: "!", delete: "-" } as const;

function linesOf({ object, action, changes, message }: ObjectDiff, paint: Paint): readonly string[] {
  const tone = action === "refused" || action === "delete" ? "bad" : "strong";
  const title = paint(tone, `${signs[action]} ${objectTitle(object)}  ${action}`);
  return [
    message === undefined ? title : `${title}: ${cleanText(message)}`,
    ...(action === "update" ? changes.flatMap((change) => changeLines(change, paint)) : []),
  ];
}

function changeLines({ path, before, after }: Change, paint: Paint): readonly string[] {
  return [
    `    ${cleanText(path)}`,
    ...(before === undefined ? [] : [paint("bad", `      - ${cleanText(before)}`)]),
    ...(after === undefined ? [] : [paint("good", `      + ${cleanText(after)}`)]),
  ];
}

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
