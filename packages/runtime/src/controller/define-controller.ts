import type { Kind } from "../object/kind.ts";
import type { KubeObject } from "../object/kube-object.ts";
import type { ControllerDefinition } from "./controller-definition.ts";
import type { ControllerHost } from "./controller-host.ts";
import { type ControllerReport, ControllerRun, type Term } from "./controller-run.ts";
import { type ReconcileDefinition, recipeOf } from "./reconcile-definition.ts";

/** A controller as the manager knows it. */
export interface Controller {
  readonly name: string;
  /** Objects worked on at the same time. */
  readonly concurrency: number;
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

/** What the short form takes besides the reconciler itself. */
type ShortDefinition<Obj extends KubeObject> = ReconcileDefinition<Obj> &
  Omit<ControllerDefinition<Obj, never, never>, "kind" | "recipe">;

/**
 * A controller: which objects it looks after, and how. The short form has one function that reads, decides and writes; the long
 * form takes a recipe of `observe`, `rules` and `perform`, whose decisions are tested as tables.
 *
 * @example
 * const copies = defineController(copyKind, {
 *   owns: [configMaps],
 *   reconcile: async (copy, ctx) => {
 *     await ctx.apply(configMaps, { metadata: { name: copy.metadata.name }, data: { text: copy.spec.text } });
 *   },
 * });
 */
export function defineController<Obj extends KubeObject>(
  kind: Kind<Obj>,
  definition: ShortDefinition<Obj>,
): Controller;
/** The long form, with a recipe. */
export function defineController<Obj extends KubeObject, Seen, Action>(
  definition: ControllerDefinition<Obj, Seen, Action>,
): Controller;
/** Either form. */
export function defineController<Obj extends KubeObject, Seen, Action>(
  first: Kind<Obj> | ControllerDefinition<Obj, Seen, Action>,
  short?: ShortDefinition<Obj>,
): Controller {
  if ("recipe" in first) return controllerOf(first);
  if (short === undefined) throw new TypeError("a controller needs a recipe or a reconcile function");
  const recipe = recipeOf(short, `${first.group}/${first.plural}`);
  return controllerOf({ ...short, kind: first, recipe });
}

function controllerOf<Obj extends KubeObject, Seen, Action>(
  definition: ControllerDefinition<Obj, Seen, Action>,
): Controller {
  const { name = definition.kind.plural, concurrency = 4 } = definition;
  return { name, concurrency, launch: (host) => new ControllerRun(name, definition, host) };
}
