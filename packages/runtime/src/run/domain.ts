import type { Controller } from "../controller/define-controller.ts";
import type { InformerRequest } from "../informers/informer-pool.ts";
import type { KubeObject } from "../object/kube-object.ts";
import type { Log } from "../reconcile/log.ts";
import type { System } from "../system/system.ts";
import type { DomainSeries } from "../telemetry/domain-series.ts";
import type { Transport } from "../transport/transport.ts";

/**
 * One part of an operator: kinds that belong together, with the controllers behind them. An operator registers domains and knows
 * nothing of their insides.
 */
export interface Domain {
  /** As `--domains` names it. */
  readonly name: string;
  /** What the domain does with the operator's own identity; the operator's RBAC is generated from it. */
  readonly permissions: readonly DomainPermission[];
  /** Makes the controllers of one run, and registers the domain's metrics. */
  controllers(host: DomainHost): readonly Controller[];
}

/** One rule of the operator's role. */
export interface DomainPermission {
  /** Why it is needed; stands above the rule in the generated file. */
  readonly reason: string;
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

/** What a run gives its domains. */
export interface DomainHost {
  readonly transport: Transport;
  readonly system: System;
  readonly log: Log;
  /** For the domain's own metrics. */
  readonly series: DomainSeries;
  /** Only objects of this namespace (default: all). */
  readonly namespace?: string;
  /** Objects that each controller works on at the same time. */
  readonly concurrency: number;
  /**
   * The objects that a controller's watch holds now, for metrics. The request has to equal the controller's; empty while nobody
   * watches them.
   */
  readonly stored: <O extends KubeObject>(request: InformerRequest<O>) => readonly O[];
}
