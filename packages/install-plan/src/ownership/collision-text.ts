import type { IssueReason } from "../model/issue.ts";
import type { Ownership } from "./ownership.ts";

export interface CollisionText {
  readonly reason: Extract<IssueReason, "Collision" | "NameTaken" | "EarlierOwner">;
  /** The finding, after the name of the object. */
  readonly found: string;
  readonly remedy: string;
}

const adopting = "adoption: IfUnowned takes it over";

export const unowned: CollisionText = {
  reason: "Collision",
  found: "already exists and has no owner",
  remedy: adopting,
};

/** Message about an object that another client has, or that has labels without a proof; undefined for all others. */
export function collisionText(ownership: Ownership): CollisionText | undefined {
  if (ownership.kind === "ownedByOther")
    return {
      reason: "Collision",
      found: `belongs to ${ownership.owner}`,
      remedy: "adoption: Always takes it over",
    };
  if (ownership.kind !== "unowned") return undefined;
  const { isForged, former } = ownership;
  if (isForged === true)
    return {
      reason: "NameTaken",
      found: "has labels of this plan that the plan did not set",
      remedy: adopting,
    };
  if (former === undefined) return undefined;
  return {
    reason: "EarlierOwner",
    found: "has the labels of an earlier plan of this name",
    remedy:
      former === "unguarded"
        ? "that the plan was restored does not count until config/policy/installplan-confirmations.yaml is applied"
        : "if the plan was restored from a backup, run qm plan restore",
  };
}
