import type { JsonObject, KubeObject } from "@quartermaster/runtime";

import type { Identity } from "../identity.ts";
import type { Issue } from "../issue.ts";

/** One document as it was read. */
export interface PackDocument {
  readonly value: unknown;
  /** For messages, e.g. `shop.yaml, document 3`. */
  readonly source: string;
}

/** A stage that the author asks for; it takes what it selects out of the default stages and comes after them. */
export interface WantedStage {
  readonly name: string;
  /** `Kind` or `Kind/name`; `*` in a name matches anything. */
  readonly select: readonly string[];
}

/** How to pack. */
export interface PackOptions {
  readonly name: string;
  /** The plan's namespace (default: `default`). */
  readonly namespace?: string;
  readonly serviceAccountName: string;
  readonly stages?: readonly WantedStage[];
  /** Where Secrets go: into the plan like everything else, or each into an immutable Secret (default: `inline`). */
  readonly secrets?: "inline" | "secretRef";
  readonly approval?: "Automatic" | "Manual";
  /** Default: by the objects; of custom resources whose definition is elsewhere one cannot see that they have no namespace. */
  readonly scope?: "Namespace" | "Cluster";
  /** Names of the plans that this one takes over from. */
  readonly replaces?: readonly string[];
}

/** One resource of a packed plan. */
export type PackedResource =
  | { readonly manifest: JsonObject }
  | { readonly manifestRef: { readonly name: string; readonly sha256: string; readonly object: Identity } };

/** A plan as it is created; the API server fills in the defaults. */
export interface PackedPlan extends KubeObject {
  readonly spec: {
    readonly serviceAccountName: string;
    readonly scope: "Namespace" | "Cluster";
    readonly approval?: "Manual";
    readonly replaces?: { readonly plans: readonly { readonly name: string }[] };
    readonly stages: readonly PackedStage[];
  };
}

/** A stage of it. */
export interface PackedStage {
  readonly name: string;
  readonly resources: readonly PackedResource[];
}

/** A ResourceManifest as it is created. */
export interface PackedManifest extends KubeObject {
  readonly spec: {
    readonly sha256: string;
    readonly manifest?: JsonObject;
    readonly data?: string;
    readonly encoding?: "gzip";
    readonly secretKeyRef?: { readonly name: string; readonly key: string };
  };
}

/** What came of packing. With issues, there is no plan to be had. */
export interface Packed {
  readonly plan: PackedPlan;
  readonly manifests: readonly PackedManifest[];
  /** Immutable Secrets that the manifests refer to. */
  readonly secrets: readonly KubeObject[];
  readonly warnings: readonly string[];
  readonly issues: readonly Issue[];
}
