import { type Mutant, mutantsOf } from "./mutant.ts";

/** What only shows against a server. */
export const integrationMutants: readonly Mutant[] = [
  ...mutantsOf(
    { topic: "server", package: "install-plan", level: "integration", tests: ["plan-collision"] },
    [
      {
        name: "an object that another client made in between is taken",
        find: "return { written, isIntrusion: current === undefined && !isNew };",
        replace: "return { written, isIntrusion: false };",
      },
    ],
  ),
  ...mutantsOf(
    { topic: "server", package: "install-plan", level: "integration", tests: ["plan-orphaning"] },
    [
      {
        name: "an orphaned object keeps its owner labels",
        find: "labels: Object.fromEntries(ownLabels.map((label) => [label, null])),",
        replace: "",
      },
    ],
  ),
  ...mutantsOf(
    { topic: "server", package: "runtime", level: "integration", tests: ["reconcile-lifecycle"] },
    [
      {
        name: "a clean-up that waits is not reported",
        find: 'return stage === "active" || (stage === "deleting" && outcome.kind !== "settled");',
        replace: 'return stage === "active" || (stage === "deleting" && outcome.kind === "stalled");',
      },
    ],
  ),
];
