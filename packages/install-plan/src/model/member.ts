import type { InstallPlan } from "@quartermaster/api";
import type { KubeObject } from "@quartermaster/runtime";

import type { Identity, IdentityKey } from "./identity.ts";

type Stage = InstallPlan["spec"]["stages"][number];
type Resource = NonNullable<Stage["resources"]>[number];

/** How one object is treated: the plan's lifecycle with the resource's own words laid over it. */
export type Lifecycle = InstallPlan["spec"]["lifecycle"];

/** By what an object counts as ready. */
export type Readiness = NonNullable<Resource["readiness"]>;

/** One object of a plan, ready to be applied. A List in the plan is as many members as it has items. */
export interface Member {
  readonly stage: string;
  readonly stageIndex: number;
  /** Index of the resource within its stage; the items of a List share it. */
  readonly index: number;
  readonly identity: Identity;
  readonly key: IdentityKey;
  /** The applied object: namespace filled in, `status` dropped, a Secret's `stringData` turned into `data`. */
  readonly manifest: KubeObject;
  /** Of the manifest as it is applied. */
  readonly digest: string;
  readonly lifecycle: Lifecycle;
  readonly readiness: Readiness;
}
