import type { ControllerObserver } from "../controller/controller-host.ts";
import type { EventObserver } from "../events/event-recorder.ts";
import type { InformerObserver } from "../informers/informer.ts";

/**
 * Everything that metrics count, as hooks. All are optional, must be quick and must not throw. Wire them to a metrics
 * library, or leave them out.
 */
export interface Telemetry extends ControllerObserver, InformerObserver, EventObserver {
  /** Whether this replica acts. */
  leading?(event: { readonly isLeading: boolean }): void;
}

/** Counts nothing. */
export const noTelemetry: Telemetry = {};
