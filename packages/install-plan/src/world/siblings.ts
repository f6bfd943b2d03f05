import { installPlan, type InstallPlan } from "@quartermaster/api";
import { byNamespace, type Context, type ReadStore } from "@quartermaster/runtime";

import { PlanGraph } from "./plan-graph.ts";

/** All plans of the plan's namespace, itself included: only they can replace each other. */
export function siblingsOf({ metadata: { namespace = "" } }: InstallPlan, ctx: Context): PlanGraph {
  const store = ctx.store(installPlan.kind);
  const graphs = graphsOf.get(store) ?? new Map<string, PlanGraph>();
  graphsOf.set(store, graphs);
  const known = graphs.get(namespace);
  const graph = known === undefined || known.isWorn ? new PlanGraph() : known;
  graphs.set(namespace, graph);
  graph.sync(store.listBy(byNamespace, namespace));
  return graph;
}

/** Kept from one reconcile to the next, so that a change of one plan costs no more than that change. */
const graphsOf = new WeakMap<ReadStore<InstallPlan>, Map<string, PlanGraph>>();
