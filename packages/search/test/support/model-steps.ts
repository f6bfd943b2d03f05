import { unreachable } from "@quartermaster/runtime";

import type { EngineSettings } from "../../src/engine/engine-facts.ts";
import { allocation } from "../../src/facts/allocation.ts";
import { majority } from "../../src/facts/quorum-after.ts";
import { formationLane } from "../../src/formation/formation-lane.ts";
import { decideLane, type LaneDecision } from "../../src/lane.ts";
import { heldNodesLane } from "../../src/nodes/held-nodes-lane.ts";
import { nodesLane } from "../../src/nodes/nodes-lane.ts";
import { isDecidedAgain } from "../../src/nodes/operation-handlers.ts";
import type { DestructiveAction, OperationAction, SearchAction } from "../../src/search-action.ts";
import { engineFacts } from "./a-seen.ts";
import { factsOf, nowOf, seenBy } from "./model-seen.ts";
import { governed, hasQuorum, membersOf, withPod, sceneSteps } from "./model-state.ts";
import { type Engine, type Model, nodeName, theirExclusion } from "./operation-model.ts";

/** One thing that can happen next. */
export interface Step {
  readonly what: string;
  readonly next: Model;
  /** Invariants that the step broke. */
  readonly broken: readonly string[];
}

/** Everything that can happen next. */
export function stepsOf(model: Model): readonly Step[] {
  return [
    ...operatorSteps(model),
    ...sceneSteps(model).map(({ what, next }) => ({
      what,
      next: governed(next),
      broken: lostData(governed(next)),
    })),
  ];
}

/** A reconcile; it may be cut off after each of its writes, and before its status. */
function operatorSteps(model: Model): readonly Step[] {
  const decision = decided(model);
  const steps: Step[] = [];
  let now: Model = grown(model);
  const broken: string[] = [];
  let isDone = true;
  for (const [at, action] of decision.actions.entries()) {
    if (at > 0)
      steps.push({
        what: `operator dies after ${String(at)} writes of ${decision.rule}`,
        next: now,
        broken: [...broken],
      });
    const done = performed(now, action);
    broken.push(...done.broken);
    now = governed(done.next);
    isDone = done.isDone;
    // What was refused ends the lane, and its record stays as it was.
    if (!isDone) break;
  }
  const { intent } = decision;
  const isRecorded = isDone && intent !== undefined && "operation" in intent;
  const operation = isRecorded ? intent.operation : now.operation;
  const finished = { ...now, operation, isLater: operation?.drainedAt === undefined ? false : now.isLater };
  const all = [...broken, ...foundsAgain(model), ...lostData(finished), ...lostExclusion(finished)];
  if (decision.actions.length > 0)
    steps.push({ what: `operator dies before its status (${decision.rule})`, next: now, broken: all });
  steps.push({ what: `operator: ${decision.rule}`, next: finished, broken: all });
  return steps;
}

/** The lane beside it that forms clusters: this one has formed, and no pod may ever find a list of founders again. */
function foundsAgain(model: Model): readonly string[] {
  const seen = seenBy(model, model.store, factsOf(model.sample));
  const { actions, intent, rule } = decideLane(formationLane, seen, nowOf(model));
  const isQuiet = intent === undefined && actions.every((action) => action.kind === "annotateVolume");
  return model.spec.isHeld || isQuiet ? [] : [`S-6: ${rule} founds the cluster again`];
}

function decided(model: Model): LaneDecision {
  const seen = seenBy(model, model.store, factsOf(model.sample));
  return decideLane(model.spec.isHeld ? heldNodesLane : nodesLane, seen, nowOf(model));
}

/** The pools lane beside it: places are added, never taken. */
function grown(model: Model): Model {
  if (model.spec.isHeld) return model;
  const isShrinking = model.operation?.step === "Shrink";
  const slots = Math.max(model.store.slots, model.spec.nodes);
  return isShrinking || slots <= model.live.slots ? model : { ...model, live: { ...model.live, slots } };
}

interface Performed {
  readonly next: Model;
  readonly isDone: boolean;
  readonly broken: readonly string[];
}

const destructive = new Set<string>(["deletePod", "shrinkPool", "deleteClaim", "deletePool"]);

function isDestructive(action: OperationAction): action is DestructiveAction {
  return destructive.has(action.kind);
}

const operations = new Set<string>([
  ...destructive,
  "freezeAllocation",
  "excludeNode",
  "releaseAllocation",
  "excludeVote",
  "clearVotes",
  "verifyReleased",
  "verifySlot",
]);

function isOperationAction(action: SearchAction): action is OperationAction {
  return operations.has(action.kind);
}

function performed(model: Model, action: SearchAction): Performed {
  if (action.kind === "record") return { next: model, isDone: true, broken: [] };
  if (!isOperationAction(action)) throw new Error(`the model knows no ${action.kind}`);
  if (isDestructive(action)) return destroyed(model, action);
  if (action.kind === "verifySlot")
    return { next: model, isDone: model.live.slots > action.ordinal, broken: [] };
  if (model.isSilent || !hasQuorum(model)) return { next: model, isDone: false, broken: [] };
  if (action.kind === "verifyReleased") return verified(model, action.node);
  const next = { ...model, engine: engineAfter(model, action) };
  return { next, isDone: true, broken: returnedTo(model, next) };
}

/** Shards that may come back to a node without a place leave the cluster with it. A spec that requests it again makes the place again. */
function returnedTo(model: Model, next: Model): readonly string[] {
  const before = allocation.excludedNodes(model.engine.settings);
  const after = allocation.excludedNodes(next.engine.settings);
  const leaving = Object.keys(model.live.pods).filter(
    (node) => ordinalIn(node) >= Math.max(model.live.slots, model.spec.isHeld ? 0 : model.spec.nodes),
  );
  return leaving
    .filter((node) => before.includes(node) && !after.includes(node))
    .map((node) => `S-4: shards may come back to ${node}, which is on its way out`);
}

function ordinalIn(node: string): number {
  return Number(node.slice(node.lastIndexOf("-") + 1));
}

function verified(model: Model, node: string): Performed {
  const { settings, exclusions } = model.engine;
  const changes = allocation.release(settings);
  if (changes === undefined && !exclusions.includes(node)) return { next: model, isDone: true, broken: [] };
  const engine = { ...model.engine, exclusions: [], settings: put(settings, changes ?? {}) };
  const next = { ...model, engine };
  return { next, isDone: false, broken: returnedTo(model, next) };
}

type EngineAction = Exclude<
  OperationAction,
  DestructiveAction | { readonly kind: "verifyReleased" | "verifySlot" }
>;

function engineAfter({ engine }: Model, action: EngineAction): Engine {
  const { settings } = engine;
  switch (action.kind) {
    case "freezeAllocation":
      return { ...engine, settings: put(settings, allocation.freeze(settings, action.operation)) };
    case "excludeNode":
      return { ...engine, settings: put(settings, allocation.exclude(settings, action.node) ?? {}) };
    case "releaseAllocation":
      return { ...engine, settings: put(settings, allocation.release(settings) ?? {}) };
    case "excludeVote":
      return { ...engine, exclusions: [...new Set([...engine.exclusions, action.node])].toSorted() };
    case "clearVotes":
      return { ...engine, exclusions: [] };
    default:
      return unreachable(action);
  }
}

function put(settings: EngineSettings, changes: Partial<EngineSettings>): EngineSettings {
  const merged = (layer: keyof EngineSettings): EngineSettings["persistent"] =>
    Object.fromEntries(
      Object.entries({ ...settings[layer], ...changes[layer] }).filter(([, value]) => value !== null),
    );
  return { persistent: merged("persistent"), transient: merged("transient") };
}

/** Decided again on what is true now, and only then done; every invariant is looked at when it is. */
function destroyed(model: Model, action: DestructiveAction): Performed {
  const facts =
    model.isSilent || !hasQuorum(model)
      ? engineFacts()
      : factsOf({ ...model.engine, members: membersOf(model) });
  const live = seenBy(model, model.live, facts);
  if (!isDecidedAgain(action, live, nowOf(model))) return { next: model, isDone: false, broken: [] };
  const broken = brokenBy(model, action);
  switch (action.kind) {
    case "deletePod": {
      const pod = model.live.pods[action.node];
      if (pod === undefined || String(pod.uid) !== action.uid) return { next: model, isDone: false, broken };
      return { next: withPod(model, action.node, { ...pod, state: "terminating" }), isDone: true, broken };
    }
    case "shrinkPool":
      return { next: { ...model, live: { ...model.live, slots: action.to } }, isDone: true, broken };
    case "deleteClaim":
      return {
        next: { ...model, deletedClaims: [...model.deletedClaims, action.node] },
        isDone: true,
        broken,
      };
    case "deletePool":
      return { next: model, isDone: true, broken };
    default:
      return unreachable(action);
  }
}

/** The input of an invariant. */
interface Write {
  readonly model: Model;
  readonly action: DestructiveAction;
  readonly node: string;
  readonly up: readonly string[];
  /** The write takes a member of the cluster away. */
  readonly takesMember: boolean;
}

const invariants: readonly { readonly id: string; readonly isBroken: (write: Write) => boolean }[] = [
  {
    id: "S-1: a node is taken while another is down",
    isBroken: ({ model, node, up, takesMember }) =>
      takesMember &&
      Array.from({ length: model.live.slots }, (_, ordinal) => nodeName(ordinal)).some(
        (each) => each !== node && !up.includes(each),
      ),
  },
  {
    id: "S-2: no majority is left",
    isBroken: ({ model, node, up, takesMember }) =>
      takesMember &&
      model.live.slots > 1 &&
      model.engine.voters.filter((voter) => up.includes(voter) && voter !== node).length <
        majority(model.engine.voters.length),
  },
  {
    id: "S-3: the write is not one of the open operation",
    isBroken: ({ model, node, action }) => {
      const isRepair = action.kind === "deletePod" && action.operation === undefined;
      if (isRepair || action.kind === "deletePool") return false;
      const type = action.kind === "deletePod" ? "Restart" : "Remove";
      const { operation } = model;
      return operation?.id !== action.operation || operation?.type !== type || operation.node !== node;
    },
  },
  {
    id: "S-7: a pod goes that has the only copy of a shard in its emptyDir",
    isBroken: ({ model, node, up, action }) =>
      action.kind === "deletePod" &&
      model.isEphemeral &&
      model.engine.holders.some(
        (holders) =>
          holders.includes(node) && !holders.some((holder) => holder !== node && up.includes(holder)),
      ),
  },
  {
    id: "S-4: a node is removed that holds a shard",
    isBroken: ({ model, node, action }) => action.kind === "shrinkPool" && holdsShard(model, node),
  },
  {
    id: "S-5: a claim is deleted that has a copy",
    isBroken: ({ model, node, action }) => action.kind === "deleteClaim" && holdsShard(model, node),
  },
  {
    id: "S-8: a node is taken although the engine is silent",
    isBroken: ({ model, takesMember }) => model.isSilent && takesMember,
  },
  {
    id: "something is taken away although the cluster is paused or its spec is nonsense",
    isBroken: ({ model }) => model.spec.isHeld,
  },
  {
    id: "S-12: a node restarts without a cause",
    isBroken: ({ model, node, action }) =>
      action.kind === "deletePod" && model.live.pods[node]?.config === model.spec.config,
  },
];

function holdsShard({ engine }: Model, node: string): boolean {
  return engine.holders.some((holders) => holders.includes(node));
}

function nodeOf(action: DestructiveAction): string {
  if (action.kind === "shrinkPool") return nodeName(action.to);
  return action.kind === "deletePool" ? "" : action.node;
}

/** The invariants at the moment of a write of ours. */
function brokenBy(model: Model, action: DestructiveAction): readonly string[] {
  const [node, up] = [nodeOf(action), membersOf(model)];
  const takesMember = up.includes(node) && action.kind !== "deleteClaim";
  const write = { model, action, node, up, takesMember };
  return invariants.filter(({ isBroken }) => isBroken(write)).map(({ id }) => `${id} (${node})`);
}

/** What another client excluded stays excluded at every moment. */
function lostExclusion({ engine: { settings } }: Model): readonly string[] {
  return allocation.excludedNodes(settings).includes(theirExclusion)
    ? []
    : [`S-11: ${theirExclusion}, which another client excluded, is not excluded any more`];
}

/** Every shard is on a disk that is still there. */
function lostData({ engine, deletedClaims }: Model): readonly string[] {
  return engine.holders.flatMap((holders, shard) =>
    holders.every((node) => deletedClaims.includes(node)) ? [`S-17: shard ${String(shard)} is lost`] : [],
  );
}
