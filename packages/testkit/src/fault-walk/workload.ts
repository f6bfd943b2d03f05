import type { ApiClient } from "@quartermaster/local-cluster";

import type { Access } from "../connect.ts";
import type { Trace } from "./trace.ts";

/** What users do with one kind, from nothing to rest: run once undisturbed, then once per fault. */
export interface Workload {
  readonly name: string;
  /** One run in a namespace of its own, with the operator not started yet. */
  setUp(): Promise<WorkloadRun>;
  /** Names of the plans that `make test` runs, where one of each write would take too long (default: one of each write). */
  readonly sample?: readonly string[] | undefined;
  /** Plans that cannot end well, each with the reason; docs/status.md names them as gaps. */
  readonly exceptions?: readonly { readonly plans: RegExp; readonly why: string }[] | undefined;
}

/** One run of a workload. */
export interface WorkloadRun extends AsyncDisposable {
  /** Client of the administrator, which shares no code with what is under test. */
  readonly api: ApiClient;
  readonly operator: Access;
  /** Text that differs between runs, e.g. the namespace, each with its replacement in the names of write points. */
  readonly aliases: Readonly<Record<string, string>>;
  /** Paths of the custom resources that users create, in their order. */
  readonly primaryPaths: readonly string[];
  /** Starts the controllers, which reach the API server through `access` only. */
  operate(access: Access): Promise<void>;
  /** Stops the controllers without letting them finish. */
  stop(): Promise<void>;
  readonly steps: readonly WorkloadStep[];
  /** Normal form of all objects in scope: equal in every run that ends well. */
  endState(): Promise<unknown>;
  /** Whether nothing is left after the custom resource was deleted, beyond what retention keeps. */
  isCleared(): Promise<boolean>;
  /** Rules of this kind that the requests of a run show: the first that is broken. */
  judgeTrace?(trace: Trace): string | undefined;
  /** I3: changes the spec; `endState` then differs from that of the first spec. Left out where specs are immutable. */
  retarget?(): Promise<void>;
  /** O15: takes the spec of `retarget` back. */
  restore?(): Promise<void>;
}

/** One action of the user. */
export interface WorkloadStep {
  readonly name: string;
  act(): Promise<void>;
  isDone(): Promise<boolean>;
}
