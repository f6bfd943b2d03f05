import { type Mutant, mutantsOf } from "./mutant.ts";

/** Of copies that count as impossible, and of TLS that nodes run with. */
export const explainedMutants: readonly Mutant[] = mutantsOf(
  {
    topic: "operation",
    package: "search",
    level: "unit",
    tests: ["explained-copies", "restart", "removal", "running-tls", "is-inside-window"],
  },
  [
    {
      name: "one node that cannot take a copy makes it impossible",
      find: "return explanation.nodes.every(({ deciders }) =>",
      replace: "return explanation.nodes.some(({ deciders }) =>",
    },
    {
      name: "any rule of the engine makes a copy impossible",
      find: "deciders.some((rule) => lastingRules.has(rule) && ",
      replace: "deciders.some((rule) => rule !== undefined && ",
    },
    {
      name: "our own exclusion makes a copy impossible",
      find: "const isFiltered = !engine.settings.isKnown || allocation.holdsOurs(engine.settings.value);",
      replace: "const isFiltered = !engine.settings.isKnown;",
    },
    {
      name: "a copy that nobody was asked about is impossible",
      find: "if (explanation === undefined || explanation.nodes.length === 0) return false;",
      replace:
        "if (explanation === undefined || explanation.nodes.length === 0) return engine.explanations.isKnown;",
    },
    {
      name: "an explanation of one shard counts for all of its index",
      find: "return explanations.value.find((each) => each.index === index && each.shard === shard);",
      replace: "return explanations.value.find((each) => each.index === index && shard >= 0);",
    },
    {
      name: "TLS is switched under running nodes",
      find: "const known = modes.length > 0 ? modes : templates;",
      replace: "const known = templates.length > 0 ? templates : modes;",
    },
    {
      name: "nodes restart outside of the author's windows",
      find: "if (!isDisruptionWanted(seen) || mayDisrupt(seen, now)) return undefined;",
      replace: "if (!isDisruptionWanted(seen) || !mayDisrupt(seen, now)) return undefined;",
    },
    {
      name: "a restart goes on although the window has closed",
      find: "if (!node.isOutdated || !node.hasPlace || isGoing || !mayDisrupt(seen, now))",
      replace: "if (!node.isOutdated || !node.hasPlace || isGoing)",
    },
    {
      name: "a window that cannot be read is open",
      find: "if (schedule === undefined || zone === undefined) return false;",
      replace: "if (schedule === undefined || zone === undefined) return true;",
    },
    {
      name: "a node that came back empty is removed while its copies are still being made",
      find: "...(node.isData ? [settled] : [])];",
      replace: "...(node.isData && node.isElected ? [settled] : [])];",
    },
  ],
);
