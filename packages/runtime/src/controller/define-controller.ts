import type { KubeObject } from "../object/kube-object.ts";
import type { ControllerDefinition } from "./controller-definition.ts";
import type { ControllerHost } from "./controller-host.ts";
import { type ControllerReport, ControllerRun, type Term } from "./controller-run.ts";

/** A controller as the manager knows it. */
export interface Controller {
  readonly name: string;
  /** Starts the informers it needs; work begins when the manager says so. */
  launch(host: ControllerHost): LaunchedController;
}

/** A controller that keeps its stores warm and works while it may. */
export interface LaunchedController {
  readonly name: string;
  settled(): Promise<void>;
  work(term: Term): Promise<void>;
  stop(): Promise<void>;
  report(): ControllerReport;
}

/**
 * A controller: which objects it looks after and by which recipe.
 *
 * @example
 * const copies = defineController({ kind: copyKind, recipe, owns: [configMaps], concurrency: 8 });
 */
export function defineController<Obj extends KubeObject, Seen, Action>(
  definition: ControllerDefinition<Obj, Seen, Action>,
): Controller {
  const name = definition.name ?? definition.kind.plural;
  return { name, launch: (host) => new ControllerRun(name, definition, host) };
}
