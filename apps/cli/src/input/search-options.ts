import { clusterOptions, type OptionSpecs } from "./invocation.ts";

/** Options of commands about search clusters. */
export const searchOptions: OptionSpecs = {
  ...clusterOptions,
  namespace: {
    type: "string",
    short: "n",
    describe: "namespace of the search cluster (default: the namespace of the context)",
  },
};
