import { awaits, type LaneRule, nothingToDo, type SearchLane } from "../lane.ts";
import { searchReasons } from "../reasons.ts";
import type { SearchAction } from "../search-action.ts";

/** A pod waits in `prepare` until it is told where it runs. The labels of a machine at that time count: they do not change below a node. */
const annotatePods: LaneRule = {
  name: "annotatePods",
  decide: ({ cluster, pods }) => {
    const { nodeAttributes = [] } = cluster;
    const names = nodeAttributes.map(({ name }) => name);
    const actions = pods.flatMap(
      ({ name, uid, machine, attributes = [], isTerminating }): readonly SearchAction[] =>
        machine === undefined || isTerminating || names.every((each) => attributes.includes(each))
          ? []
          : [{ kind: "annotatePod", name, uid, machine }],
    );
    if (actions.length === 0) return nothingToDo;
    return awaits(searchReasons.memberMissing, "Pods get the attributes of their machines.", {
      actor: "operator",
      actions,
    });
  },
};

/** Attributes of nodes from the labels of their machines. */
export const attributesLane: SearchLane = { name: "attributes", rules: [annotatePods] };
