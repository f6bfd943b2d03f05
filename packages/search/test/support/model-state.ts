import { allocation } from "../../src/facts/allocation.ts";
import { majority } from "../../src/facts/quorum-after.ts";
import { copiesWanted, type Model, type ModelPod, nodeName } from "./operation-model.ts";

export interface Happening {
  readonly what: string;
  readonly next: Model;
}

/** Kubernetes and the engine do their work; watches and samples arrive, or not; people and machines interfere. */
export function sceneSteps(model: Model): readonly Happening[] {
  return [...kubernetesSteps(model), ...shardSteps(model), ...noticeSteps(model), ...disturbances(model)];
}

export function withPod(model: Model, node: string, pod: ModelPod | undefined): Model {
  const { [node]: _old, ...others } = model.live.pods;
  const pods = pod === undefined ? others : { ...others, [node]: pod };
  return { ...model, live: { ...model.live, pods } };
}

function kubernetesSteps(model: Model): readonly Happening[] {
  const { live, spec, uids } = model;
  const steps: Happening[] = [];
  for (const [node, pod] of Object.entries(live.pods)) {
    if (pod.state === "terminating")
      steps.push({ what: `${node} is gone`, next: withoutDisk(withPod(model, node, undefined), node) });
    if (pod.state === "starting")
      steps.push({ what: `${node} joins`, next: withPod(model, node, { ...pod, state: "up" }) });
    if (ordinalOf(node) >= live.slots && pod.state !== "terminating")
      steps.push({
        what: `${node} terminates`,
        next: withPod(model, node, { ...pod, state: "terminating" }),
      });
  }
  for (let ordinal = 0; ordinal < live.slots; ordinal += 1)
    if (live.pods[nodeName(ordinal)] === undefined) {
      const pod: ModelPod = { uid: uids, config: spec.config, state: "starting" };
      steps.push({
        what: `${nodeName(ordinal)} is made`,
        next: { ...withPod(model, nodeName(ordinal), pod), uids: uids + 1 },
      });
    }
  return steps;
}

/** What was on the disk of a pod, if that goes with it. */
function withoutDisk(model: Model, node: string): Model {
  if (!model.isEphemeral) return model;
  const holders = model.engine.holders.map((each) => each.filter((holder) => holder !== node));
  return { ...model, engine: { ...model.engine, holders } };
}

function shardSteps(model: Model): readonly Happening[] {
  const { engine } = model;
  const up = membersOf(model);
  if (!hasQuorum(model)) return [];
  const excluded = allocation.excludedNodes(engine.settings);
  const isOpen = (engine.settings.persistent["cluster.routing.allocation.enable"] ?? "all") === "all";
  return engine.holders.flatMap((holders, shard): readonly Happening[] => {
    const started = holders.filter((node) => up.includes(node));
    const [location] = up.filter((node) => !holders.includes(node) && !excluded.includes(node));
    if (location === undefined || started.length === 0 || !isOpen) return [];
    const held = (nodes: readonly string[]): Model => ({
      ...model,
      engine: {
        ...engine,
        holders: engine.holders.map((each, at) => (at === shard ? nodes.toSorted() : each)),
      },
    });
    const leaving = started.find((node) => excluded.includes(node));
    return [
      ...(started.length < copiesWanted
        ? [{ what: `shard ${String(shard)} recovers on ${location}`, next: held([...started, location]) }]
        : []),
      ...(leaving === undefined
        ? []
        : [
            {
              what: `shard ${String(shard)} moves to ${location}`,
              next: held([...holders.filter((node) => node !== leaving), location]),
            },
          ]),
    ];
  });
}

function noticeSteps(model: Model): readonly Happening[] {
  const steps: Happening[] = [];
  if (JSON.stringify(model.store) !== JSON.stringify(model.live))
    steps.push({ what: "the watch delivers", next: { ...model, store: model.live } });
  if (!model.isSilent && hasQuorum(model)) {
    const sample = { ...model.engine, members: membersOf(model) };
    const next = { ...model, sample, isLater: model.operation?.drainedAt !== undefined };
    if (JSON.stringify(next) !== JSON.stringify(model)) steps.push({ what: "a sample is taken", next });
  }
  return steps;
}

function disturbances(model: Model): readonly Happening[] {
  const { spec, live, isSilent } = model;
  if (isSilent) return [{ what: "the engine answers again", next: { ...model, isSilent: false } }];
  if (model.left === 0) return [];
  const disturbed = { ...model, left: model.left - 1 };
  const pods = Object.entries(live.pods).filter(([, { state }]) => state === "up");
  return [
    {
      what: "the configuration is edited",
      next: { ...disturbed, spec: { ...spec, config: spec.config + 1 } },
    },
    ...(spec.config > 0
      ? [
          {
            what: "the edit is taken back",
            next: { ...disturbed, spec: { ...spec, config: spec.config - 1 } },
          },
        ]
      : []),
    ...(spec.nodes > 1
      ? [{ what: "one node fewer", next: { ...disturbed, spec: { ...spec, nodes: spec.nodes - 1 } } }]
      : []),
    ...(spec.nodes < live.slots
      ? [{ what: "one node more again", next: { ...disturbed, spec: { ...spec, nodes: spec.nodes + 1 } } }]
      : []),
    {
      what: spec.isHeld ? "the cluster continues" : "the cluster is paused, or its spec is nonsense",
      next: { ...disturbed, spec: { ...spec, isHeld: !spec.isHeld } },
    },
    { what: "the engine goes silent", next: { ...disturbed, isSilent: true } },
    ...pods.flatMap(([node, pod]) => [
      // Data on a disk that others take away is lost, whatever we do.
      ...(model.isEphemeral
        ? []
        : [
            {
              what: `another client deletes ${node}`,
              next: withPod(disturbed, node, { ...pod, state: "terminating" }),
            },
          ]),
      { what: `${node} crashes`, next: withPod(disturbed, node, { ...pod, state: "starting" }) },
    ]),
  ];
}

export function membersOf({ live }: Model): readonly string[] {
  return Object.entries(live.pods)
    .filter(([, { state }]) => state === "up")
    .map(([node]) => node)
    .toSorted();
}

export function hasQuorum(model: Model): boolean {
  const up = membersOf(model);
  return (
    model.engine.voters.filter((voter) => up.includes(voter)).length >= majority(model.engine.voters.length)
  );
}

/** The engine fits its voters to who is there, as long as it has a quorum. */
export function governed(model: Model): Model {
  if (!hasQuorum(model)) return model;
  const { engine } = model;
  const live = membersOf(model).filter((node) => !engine.exclusions.includes(node));
  const kept = engine.voters.filter((voter) => !engine.exclusions.includes(voter));
  const size = Math.max(live.length - (live.length % 2 === 0 ? 1 : 0), kept.length < 3 ? 1 : 3);
  const wanted = [
    ...new Set([...live.filter((node) => engine.voters.includes(node)), ...live, ...kept]),
  ].slice(0, size);
  const upThen = wanted.filter((voter) => live.includes(voter)).length;
  return upThen >= majority(wanted.length)
    ? { ...model, engine: { ...engine, voters: wanted.toSorted() } }
    : model;
}

function ordinalOf(node: string): number {
  return Number(node.slice(node.lastIndexOf("-") + 1));
}
