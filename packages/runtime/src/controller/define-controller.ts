import type { Kind } from "../object/kind.ts";
import type { KubeObject } from "../object/kube-object.ts";
import { type ControllerDefinition, recipeOf } from "./controller-definition.ts";
import type { ControllerHost } from "./controller-host.ts";
import { type ControllerReport, ControllerRun, type Term } from "./controller-run.ts";

/** A controller as the manager knows it. */
export interface Controller {
  readonly name: string;
  /** Objects worked on at the same time. */
  readonly concurrency: number;
  /** The domain that it belongs to, and what grants the domain's permissions. */
  readonly domain?: { readonly name: string; readonly grantedBy?: string | undefined } | undefined;
  /** Starts the informers it needs; work begins when the manager says so. */
  launch(host: ControllerHost): LaunchedController;
}

/** A controller that keeps its stores warm and works while it may. */
export interface LaunchedController {
  readonly name: string;
  settled(): Promise<void>;
  /** Resolves as `settled` does, or once the server has refused the watch of one of its kinds. */
  responded(): Promise<void>;
  work(term: Term): Promise<void>;
  stop(): Promise<void>;
  report(): ControllerReport;
}

/**
 * A controller: which objects it manages, and how. The short form has one function that reads, decides and writes; the long
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
export function defineController<Obj extends KubeObject, Seen = unknown, Action = unknown>(
  kind: Kind<Obj>,
  definition: ControllerDefinition<Obj, Seen, Action>,
): Controller {
  const { name = kind.plural, concurrency = 4 } = definition;
  const launch = (host: ControllerHost): LaunchedController =>
    "recipe" in definition
      ? new ControllerRun(kind, { ...definition, name }, host)
      : new ControllerRun(
          kind,
          { ...definition, name, recipe: recipeOf(definition, finalizerOf(kind)) },
          host,
        );
  return { name, concurrency, launch };
}

function finalizerOf({ group, plural }: Kind): string {
  return `${group}/${plural}`;
}
