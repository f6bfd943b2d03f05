import type { Live } from "@quartermaster/runtime";
import type { Deployment } from "@quartermaster/runtime/kinds";

import type { PresentObject } from "../present-object.ts";

/** What is there of Dashboards or Kibana. */
export interface DashboardsSeen {
  /** Everything of it that is ours, whether it is wanted or not. */
  readonly present: readonly PresentObject[];
  readonly deployment: Live<Deployment> | undefined;
  /** Secrets that the spec names for it, with their versions; undefined while one lacks something. */
  readonly followed: Readonly<Record<string, string>> | undefined;
  /** Those that are not there, or what they lack. */
  readonly missing: readonly string[];
}

/** Nothing is there. */
export const NO_DASHBOARDS: DashboardsSeen = {
  present: [],
  deployment: undefined,
  followed: {},
  missing: [],
};
