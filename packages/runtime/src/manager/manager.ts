import type { Client } from "../client/client.ts";
import type { ControllerReport } from "../controller/controller-run.ts";
import type { Controller } from "../controller/define-controller.ts";
import type { EventSubject } from "../events/event-object.ts";
import type { InformerPool, InformerReport } from "../informers/informer-pool.ts";
import type { LeaderElector } from "../leader/leader-elector.ts";
import type { Log } from "../reconcile/log.ts";
import type { System } from "../system/system.ts";
import type { Transport } from "../transport/transport.ts";
import { ManagerRun } from "./manager-run.ts";
import type { OffPart } from "./off-parts.ts";
import type { Telemetry } from "./telemetry.ts";

/** Options of a manager. */
export interface ManagerOptions {
  readonly transport: Transport;
  readonly controllers: readonly Controller[];
  readonly system: System;
  /** Default: speaks over the transport. */
  readonly client?: Client | undefined;
  /** Who we are in events (default: `quartermaster`). */
  readonly name?: string | undefined;
  /** This replica's name in events, e.g. its pod (default: the name). */
  readonly instance?: string | undefined;
  /** Default: this replica always acts. */
  readonly leaderElection?: LeaderElector | undefined;
  /** This replica's pod, for events about parts that are off (default: they are in the log only). */
  readonly pod?: EventSubject | undefined;
  readonly log?: Log | undefined;
  readonly telemetry?: Telemetry | undefined;
  /** Deep-freezes stored objects, so that code that edits them fails (default: on when NODE_ENV is `test`). */
  readonly freeze?: boolean | undefined;
  /** How long `stop` may take (default: 30 s). */
  readonly graceMs?: number | undefined;
  /** Silence that means a dead watch connection (default: 85 s). */
  readonly idleMs?: number | undefined;
}

/** How a manager is doing, as plain data; for probes, metrics and people. */
export interface ManagerHealth {
  /** Every store has its first picture, or may not be watched; see `off`. */
  readonly isReady: boolean;
  readonly isLeading: boolean;
  readonly isStopping: boolean;
  readonly informers: readonly InformerReport[];
  readonly controllers: readonly ControllerReport[];
  /** Domains that do not work, because they may not watch what they need. */
  readonly off: readonly OffPart[];
}

/** Runs controllers over shared stores. `await using` stops it. */
export interface Manager extends AsyncDisposable {
  /** The shared informers, for those who serve beside the controllers, such as a webhook. */
  readonly informers: InformerPool;
  /** Fills the stores and takes part in the election; work begins once both are done. Returns immediately. */
  start(): void;
  /** Resolves when every store has its first picture, or its kind is not served or may not be watched. Rejects with a TimeoutError after `timeoutMs` (2 min). */
  ready(options?: { readonly timeoutMs?: number }): Promise<void>;
  health(): ManagerHealth;
  /**
   * Stops within the grace period: no more keys are taken, running reconciles end or are broken off, leadership is given back.
   * Once it resolves nothing is written any more.
   */
  stop(): Promise<void>;
}

/**
 * A manager for the controllers of one process.
 *
 * @example
 * await using manager = createManager({ transport, system, controllers: [copies] });
 * manager.start();
 * await manager.ready();
 */
export function createManager(options: ManagerOptions): Manager {
  return new ManagerRun(options);
}
