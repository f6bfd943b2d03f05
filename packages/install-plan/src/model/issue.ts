import type { Identity } from "./identity.ts";

export type IssueReason =
  /** The object as such: fields missing or forbidden, two that differ under one name, outside the plan's scope. */
  | "InvalidManifest"
  /** No kind of this name is served and no CRD of the plan provides it. */
  | "KindMissing"
  | "NamespaceMissing"
  | "InvalidTransformation"
  | "InvalidJob"
  /** The server refused the object in a dry run. */
  | "Rejected"
  /** An object of another owner is in the way. */
  | "Collision"
  /** It bears labels of the plan that the plan did not set. */
  | "NameTaken"
  /** It bears labels of an earlier plan of the same name: perhaps of this one, before it was restored from a backup. */
  | "EarlierOwner"
  | "ImmutableField"
  | "UnsafeCRD"
  /** `spec.replaces` cannot be understood. */
  | "InvalidReplaces"
  | "ReplaceConflict"
  | "ReplaceCycle"
  /** `spec.dependsOn` cannot be understood. */
  | "InvalidDependsOn"
  | "DependencyCycle";

/** Reasons that say that an object is in the way. */
export const collisionReasons: ReadonlySet<string> = new Set<IssueReason>([
  "Collision",
  "NameTaken",
  "EarlierOwner",
]);

/** One fault of a plan, with the place where its author finds it. Never holds a value of a Secret. */
export interface Issue {
  readonly reason: IssueReason;
  /** Name of the stage; left out for what concerns the plan as a whole. */
  readonly stage?: string | undefined;
  /** Index in the stage's resources. */
  readonly index?: number | undefined;
  readonly object?: Identity | undefined;
  /** Path within the object or the plan, e.g. `metadata.ownerReferences`. */
  readonly field?: string | undefined;
  /** One sentence: what is wrong and what to do. */
  readonly message: string;
}
