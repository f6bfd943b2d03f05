import type { ResourceManifest } from "@quartermaster/api";
import type { KindName } from "@quartermaster/runtime";

import type { Issue } from "../model/issue.ts";
import type { Member } from "../model/member.ts";
import type { ProvidedKinds, ServedKind } from "./provided-kinds.ts";
import type { Resolved } from "./resolve-manifest.ts";

/** Facts about the cluster for reading a plan's content. Names belong to the plan's namespace. */
export interface ContentSources {
  readonly manifestOf: (name: string) => ResourceManifest | undefined;
  /** Content of a manifest; see `resolveManifest`. */
  readonly resolve: (manifest: ResourceManifest) => Resolved;
  /** How the server serves a kind, by exact apiVersion and kind; undefined when it does not. */
  readonly kindOf: (apiVersion: string, kind: string) => ServedKind | undefined;
  /** Everything that the server serves, for a hint where a kind is not. Left out, none is given. */
  readonly servedKinds?: () => Iterable<KindName>;
  readonly hasNamespace: (name: string) => boolean;
  /** The problem of a CEL expression for readiness; undefined when there is none. Unset, expressions are not judged. */
  readonly checkExpression?: (expression: string) => string | undefined;
}

/** A reference of the plan that leads to no content. */
export interface Unresolved {
  readonly reason:
    | "ManifestMissing"
    | "ContentChanged"
    | "ManifestInvalid"
    | "SecretMissing"
    /** The plan's account may not read the Secret that holds the content. */
    | "PermissionsMissing";
  /** Of the ResourceManifest. */
  readonly name: string;
  readonly message: string;
  readonly stage: string;
  readonly index: number;
}

/** Everything that a plan says, read once: what it would apply and everything that is wrong with it. */
export interface Content {
  /** In the order of the plan. Those with issues are here too as long as they can be named. */
  readonly members: readonly Member[];
  readonly issues: readonly Issue[];
  readonly unresolved: readonly Unresolved[];
  readonly warnings: readonly string[];
  /** Over manifests, references and job templates as the plan writes them; the same whatever the cluster holds. */
  readonly digest: string;
  readonly provided: ProvidedKinds;
}
