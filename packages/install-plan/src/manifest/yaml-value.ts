import { exactNumber } from "@quartermaster/runtime";
import { isAlias, isMap, isScalar, isSeq, type Node, type Pair, type Scalar } from "yaml";

import { depthLimit } from "./read-json.ts";

/** Nodes that aliases may add to a document: enough for shared labels, nothing for a bomb. */
const aliasedNodeLimit = 10_000;

/** The JSON of a document, or the first thing in it that JSON cannot say. */
export interface YamlValue {
  readonly value: unknown;
  readonly problem?: { readonly message: string; readonly offset: number };
}

/** Builds plain JSON from a parsed document, with limits of our own; linear in what is built. */
export function yamlValue(contents: unknown): YamlValue {
  const reading = new Reading();
  try {
    return { value: reading.valueOf(contents, 0) };
  } catch (error) {
    if (error instanceof Refusal) return { value: null, problem: error };
    throw error;
  }
}

/** Ends the reading of a document; caught in this file. */
class Refusal extends Error {
  readonly offset: number;

  constructor(message: string, node: unknown) {
    super(message);
    this.offset = offsetOf(node);
  }
}

interface Anchored {
  readonly value: unknown;
  readonly nodes: number;
  readonly height: number;
}

/** One walk over one document. */
class Reading {
  readonly #anchors = new Map<string, Anchored>();
  #nodes = 0;
  #aliasedNodes = 0;
  /** Deepest level reached since it was last set back. */
  #deepest = 0;

  valueOf(node: unknown, depth: number): unknown {
    if (depth > depthLimit) throw new Refusal(`nested deeper than ${depthLimit} levels`, node);
    this.#nodes += 1;
    this.#deepest = Math.max(this.#deepest, depth);
    if (isAlias(node)) return this.#resolve(node.source, node, depth);
    return anchorOf(node) === undefined ? this.#build(node, depth) : this.#buildAnchored(node, depth);
  }

  #build(node: unknown, depth: number): unknown {
    if (isMap(node)) return this.#buildObject(node.items, depth);
    if (isSeq(node)) return node.items.map((item) => this.valueOf(item, depth + 1));
    return isScalar(node) ? scalarValue(node) : null;
  }

  /** `Object.fromEntries` makes own properties of all keys, `__proto__` too. */
  #buildObject(pairs: readonly Pair[], depth: number): object {
    const keys = new Set<string>();
    const entries = pairs.map(({ key, value }): [string, unknown] => {
      const name = keyName(key);
      if (keys.has(name))
        throw new Refusal(`the key ${JSON.stringify(name.slice(0, 100))} occurs twice`, key);
      keys.add(name);
      return [name, this.valueOf(value, depth + 1)];
    });
    return Object.fromEntries(entries);
  }

  /** Known only once it is complete, so that a value cannot hold itself. */
  #buildAnchored(node: unknown, depth: number): unknown {
    const [nodes, deepest] = [this.#nodes, this.#deepest];
    this.#deepest = depth;
    const value = this.#build(node, depth);
    const height = this.#deepest - depth;
    this.#deepest = Math.max(this.#deepest, deepest);
    this.#anchors.set(anchorOf(node) ?? "", { value, nodes: this.#nodes - nodes + 1, height });
    return value;
  }

  #resolve(name: string, node: unknown, depth: number): unknown {
    const anchored = this.#anchors.get(name);
    if (anchored === undefined)
      throw new Refusal("an alias references an anchor that is not defined before it", node);
    this.#aliasedNodes += anchored.nodes;
    this.#nodes += anchored.nodes;
    this.#deepest = Math.max(this.#deepest, depth + anchored.height);
    if (this.#aliasedNodes > aliasedNodeLimit) throw new Refusal("aliases expand to too many nodes", node);
    if (this.#deepest > depthLimit) throw new Refusal(`nested deeper than ${depthLimit} levels`, node);
    return anchored.value;
  }
}

function keyName(key: unknown): string {
  if (!isScalar(key) || typeof key.value !== "string") throw new Refusal("keys must be strings", key);
  // YAML 1.2 has no merge keys; taking this one for a plain key would lose what the author means.
  if (key.value === "<<" && key.type === "PLAIN") {
    throw new Refusal("merge keys (<<) are not supported; write the fields out", key);
  }
  return key.value;
}

const octal = /^[-+]?0[0-7]+$/;
const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** File modes such as 0644 are octal to `kubectl` and to all who write manifests, against the letter of YAML 1.2. */
function scalarValue(scalar: Scalar): unknown {
  const { value, source = "" } = scalar;
  if (typeof value !== "number") return value;
  if (!Number.isFinite(value) && !jsonNumber.test(source))
    throw new Refusal("is not a valid JSON number", scalar);
  if (octal.test(source)) return Number.parseInt(source, 8);
  return jsonNumber.test(source) ? exactNumber(source) : value;
}

function anchorOf(node: unknown): string | undefined {
  return isScalar(node) || isMap(node) || isSeq(node) ? node.anchor : undefined;
}

function offsetOf(node: unknown): number {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every parsed node has a range; only read here
  return (node as Node | undefined)?.range?.[0] ?? 0;
}
