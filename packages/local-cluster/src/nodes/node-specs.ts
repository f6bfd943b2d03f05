import { LocalClusterError } from "../errors.ts";
import { MAX_NODES } from "./hub-commands.ts";

/** A node as it is asked for. */
export interface NodeSpec {
  readonly name: string;
  /** Value of the label topology.kubernetes.io/zone. */
  readonly zone: string;
}

/** A node with its position among the others, counted from 1: its addresses follow from it. */
export interface NumberedNode extends NodeSpec {
  readonly index: number;
}

/** Numbers the nodes; throws when a name occurs twice or cannot be a node's, or when they are too many. */
export function numberNodes(specs: readonly NodeSpec[]): readonly NumberedNode[] {
  if (specs.length > MAX_NODES)
    throw invalid(`A local cluster has at most ${MAX_NODES} nodes, not ${specs.length}.`);
  for (const { name } of specs) {
    if (!NODE_NAME.test(name)) throw invalid(`"${name}" cannot be the name of a node.`);
    if (specs.filter((other) => other.name === name).length > 1)
      throw invalid(`Two nodes are called "${name}".`);
  }
  return specs.map((spec, position) => ({ ...spec, index: position + 1 }));
}

/** A short DNS label: the name becomes part of the path of a socket. "hub" is the place of the control plane. */
const NODE_NAME = /^(?!hub$)[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$/;

function invalid(problem: string): LocalClusterError {
  return new LocalClusterError("InvalidNodes", problem, "Change the list of nodes.");
}
