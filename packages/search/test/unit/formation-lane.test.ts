import { describe, expect, test } from "vitest";

import { formationLane } from "../../src/formation/formation-lane.ts";
import { decideLane, type LaneDecision } from "../../src/lane.ts";
import { nodesLane } from "../../src/nodes/nodes-lane.ts";
import { poolsLane } from "../../src/pools/pools-lane.ts";
import type { Seen } from "../../src/seen.ts";
import { aPool, aSearchCluster } from "../a-search-cluster.ts";
import { aMaterial, aPod, aSeen, aVolume, engineFacts, identities, known } from "../support/a-seen.ts";

const three = aSearchCluster({ pools: [aPool({ replicas: 3 })] });
const managers = ["logs-nodes-0", "logs-nodes-1", "logs-nodes-2"];
const pinned = { bootstrap: { mode: "Found" as const, initialManagers: managers } };
const now = new Date("2026-11-17T12:00:00Z");
const pods = managers.map((name) => aPod(name));

const decide = (changes: Partial<Seen>): LaneDecision =>
  decideLane(formationLane, aSeen({ cluster: three, ...changes }), now);

describe("formation", () => {
  test.for<[string, Partial<Seen>, { rule: string; intent?: object; actor?: string }]>([
    [
      "a certificate is missing",
      { material: aMaterial({ missing: ["own http certificate"] }) },
      { rule: "awaitMaterial", actor: "operator" },
    ],
    [
      "the author's Secret is missing",
      { material: aMaterial({ missing: ["Secret mine"] }) },
      { rule: "awaitMaterial", actor: "user" },
    ],
    ["nothing is decided", {}, { rule: "decideStart", intent: pinned }],
    [
      "volumes of the managers are there",
      { volumes: managers.map((node) => aVolume(node, { engineUuid: "U", managers: 3 })) },
      { rule: "decideStart", intent: { bootstrap: { mode: "Recover", initialManagers: [] } } },
    ],
    [
      "blank volumes of a start that was cut short",
      { volumes: managers.map((node) => aVolume(node)) },
      { rule: "decideStart", intent: { bootstrap: { mode: "Recover", initialManagers: managers } } },
    ],
    [
      "volumes of another cluster",
      { volumes: [aVolume("logs-data-0", { holdsManager: false, engineUuid: "U" })] },
      { rule: "decideStart", actor: "user" },
    ],
    ["the list is not written", { status: pinned }, { rule: "writeBootstrapList" }],
    [
      "no one answers",
      { status: pinned, bootstrapList: "filled", pods },
      { rule: "awaitFormation", actor: "engine" },
    ],
    [
      "a pod is missing",
      { status: pinned, bootstrapList: "filled", pods: pods.slice(1) },
      { rule: "awaitFormation", actor: "kubelet" },
    ],
    [
      "one of three has formed",
      {
        status: pinned,
        bootstrapList: "filled",
        pods,
        engine: engineFacts({ identities: identities({ "logs-nodes-0": "U" }) }),
      },
      { rule: "awaitFormation" },
    ],
    [
      "two of three have formed",
      {
        status: pinned,
        bootstrapList: "filled",
        pods,
        engine: engineFacts({ identities: identities({ "logs-nodes-0": "U", "logs-nodes-1": "U" }) }),
      },
      { rule: "recordFormation", intent: { clusterUuid: "U" } },
    ],
    [
      "[search/SC-20] two clusters",
      {
        status: pinned,
        bootstrapList: "filled",
        pods,
        engine: engineFacts({ identities: identities({ "logs-nodes-0": "U", "logs-nodes-1": "V" }) }),
      },
      { rule: "splitCluster", actor: "user" },
    ],
    [
      "the list is still filled",
      { status: { ...pinned, clusterUuid: "U" }, bootstrapList: "filled", pods },
      { rule: "closeBootstrap" },
    ],
    [
      "formed, the list is empty",
      { status: { ...pinned, clusterUuid: "U" }, bootstrapList: "empty", pods },
      { rule: "formed" },
    ],
  ])("%s", ([, changes, expected]) => {
    expect(decide(changes)).toMatchObject(expected);
  });

  test("the list is pinned once: five declared managers found with the three of the list [search/SC-15]", () => {
    const grown = aSearchCluster({ pools: [aPool({ replicas: 5 })] });
    const decision = decide({ cluster: grown, status: pinned, bootstrapList: "absent" });
    expect(decision.intent).toBeUndefined();
    expect(JSON.stringify(decision.actions)).toContain("logs-nodes-2");
    expect(JSON.stringify(decision.actions)).not.toContain("logs-nodes-3");
  });

  test("no rule deletes anything, whatever it sees", () => {
    for (const uuids of [{}, { "logs-nodes-0": "U" }, { "logs-nodes-0": "U", "logs-nodes-1": "V" }])
      expect(
        decide({
          status: pinned,
          bootstrapList: "filled",
          pods,
          engine: engineFacts({ identities: identities(uuids) }),
        }).actions.map((action) => action.kind),
      ).not.toContain("delete");
  });

  const member = (name: string): object => ({
    id: name,
    name,
    version: "2.19.4",
    roles: [],
    isElected: false,
  });
  const twoPools = aSearchCluster({
    pools: [
      aPool({ name: "a", replicas: 2, roles: ["cluster_manager"] }),
      aPool({ name: "b", replicas: 2, roles: ["cluster_manager", "data"] }),
      aPool({ name: "d", replicas: 1, roles: ["data"] }),
    ],
  });
  const fourManagers = ["logs-a-0", "logs-a-1", "logs-b-0", "logs-b-1"];

  test("managers of two pools found one cluster", () => {
    const decision = decide({ cluster: twoPools });
    expect(decision.intent).toEqual({ bootstrap: { mode: "Found", initialManagers: fourManagers } });
  });

  test("a volume says how many managers all pools have, and what its own pool holds", () => {
    const nodes = [...fourManagers, "logs-d-0"];
    const decision = decide({
      cluster: twoPools,
      status: { bootstrap: { mode: "Found", initialManagers: fourManagers }, clusterUuid: "U" },
      bootstrapList: "empty",
      pods: nodes.map((name) => aPod(name)),
      volumes: nodes.map((node) => aVolume(node)),
      engine: engineFacts({ nodes: known(nodes.map(member) as never) }),
    });
    const ownerLabels = decision.actions.map((action) =>
      action.kind === "annotateVolume" ? [action.name, action.annotations] : [],
    );
    const position = (node: string, holds: string): unknown => [
      `data-${node}`,
      {
        "search.quartermaster.dev/engine-uuid": "U",
        "search.quartermaster.dev/holds": holds,
        "search.quartermaster.dev/managers": "4",
      },
    ];
    expect(ownerLabels).toEqual([
      position("logs-a-0", "manager"),
      position("logs-a-1", "manager"),
      position("logs-b-0", "manager,data"),
      position("logs-b-1", "manager,data"),
      position("logs-d-0", "data"),
    ]);
  });

  test("only volumes of members are marked", () => {
    const decision = decide({
      status: { ...pinned, clusterUuid: "U" },
      bootstrapList: "empty",
      pods,
      volumes: managers.map((node) => aVolume(node)),
      engine: engineFacts({ nodes: known([member("logs-nodes-0"), member("logs-nodes-2")] as never) }),
    });
    expect(decision.actions).toMatchObject([{ name: "data-logs-nodes-0" }, { name: "data-logs-nodes-2" }]);
  });
});

describe("nodes of a formed cluster", () => {
  const formed = { ...pinned, clusterUuid: "U" };
  const voters = managers.map((name) => ({
    name,
    voter: true,
    podUid: `uid-${name}`,
    pvcUid: `pvc-${name}`,
  }));
  const unavailable = [
    {
      type: "Available",
      status: "False" as const,
      reason: "Unreachable",
      message: "",
      lastTransitionTime: "2026-11-17T11:54:00Z",
    },
  ];
  const decideNodes = (changes: Partial<Seen>): LaneDecision =>
    decideLane(nodesLane, aSeen({ cluster: three, pods, ...changes }), now);

  test.for<[string, Partial<Seen>, string]>([
    ["no one answers", { status: formed }, "unreachable"],
    [
      "[search/SC-23] the disks of a majority of voters are gone",
      { status: { ...formed, nodes: voters, conditions: unavailable }, volumes: [aVolume("logs-nodes-0")] },
      "quorumLost",
    ],
    [
      "the disks of a minority are gone",
      {
        status: { ...formed, nodes: voters, conditions: unavailable },
        volumes: managers.slice(1).map((node) => aVolume(node)),
      },
      "unreachable",
    ],
    [
      "[search/SC-21] a majority gone for less than five minutes",
      {
        status: {
          ...formed,
          nodes: voters,
          conditions: unavailable.map((each) => ({ ...each, lastTransitionTime: "2026-11-17T11:56:00Z" })),
        },
        volumes: [],
      },
      "unreachable",
    ],
    [
      "volumes of the same names, made again",
      {
        status: { ...formed, nodes: voters, conditions: unavailable },
        volumes: managers.map((node) => aVolume(node, { uid: "another" })),
      },
      "quorumLost",
    ],
  ])("%s", ([, changes, rule]) => {
    expect(decideNodes(changes)).toMatchObject({ rule, actions: [] });
  });

  const healthy = engineFacts({
    health: known({
      status: "green",
      nodes: 3,
      dataNodes: 3,
      activeShards: 1,
      relocatingShards: 0,
      initializingShards: 0,
      unassignedShards: 0,
      pendingTasks: 0,
    } as const),
    nodes: known(
      managers.map((name) => ({ id: name, name, version: "2.19.4", roles: [], isElected: false })),
    ),
  });

  test("all members ready: nothing to do", () => {
    expect(decideNodes({ status: formed, engine: healthy })).toMatchObject({ rule: "complete" });
  });

  test("before the engine has named its members nothing is complete, unless the status says so of these very pods", () => {
    const silent = { ...healthy, nodes: { isKnown: false, why: "not asked" } as const };
    expect(decideNodes({ status: formed, engine: silent, pods })).toMatchObject({ rule: "memberMissing" });
    const nodes = managers.map((name) => ({ name, member: true, podUid: `uid-${name}` }));
    const reported = { ...formed, nodes };
    expect(decideNodes({ status: reported, engine: silent, pods })).toMatchObject({ rule: "complete" });
    const another = pods.map((pod) => ({ ...pod, uid: "new" }));
    expect(decideNodes({ status: reported, engine: silent, pods: another })).toMatchObject({
      rule: "memberMissing",
    });
  });

  test("another version is not begun: the nodes continue with theirs", () => {
    const decision = decideNodes({ status: formed, engine: healthy, heldVersion: "3.0.0" });
    expect(decision).toMatchObject({
      rule: "heldVersion",
      actions: [],
      outcome: { kind: "held", why: { reason: "OperationNotSupportedYet" } },
    });
  });
});

describe("pools", () => {
  const formed = { ...pinned, clusterUuid: "U" };
  const decidePools = (changes: Partial<Seen>): LaneDecision =>
    decideLane(poolsLane, aSeen({ cluster: three, ...changes }), now);

  test.for<[string, Partial<Seen>]>([
    ["nothing is decided", {}],
    ["the list is not written", { status: pinned }],
    [
      "keys are missing",
      { status: pinned, bootstrapList: "filled", material: aMaterial({ missing: ["own CA"] }) },
    ],
  ])("no StatefulSet before its time: %s", ([, changes]) => {
    expect(decidePools(changes).actions).toEqual([]);
  });

  test("a smaller number of replicas is not carried out", () => {
    const sets = new Map([
      ["nodes", { spec: { replicas: 5 }, metadata: { name: "logs-nodes" } }],
    ]) as unknown as Seen["statefulSets"];
    const [action] = decidePools({ status: formed, bootstrapList: "empty", statefulSets: sets }).actions;
    expect(action).toMatchObject({ kind: "apply", object: { spec: { replicas: 5 } } });
  });

  test("a cluster that comes back brings every node that it had, although fewer are declared now", () => {
    const back = { bootstrap: { mode: "Recover" as const, initialManagers: [] } };
    const volumes = [0, 1, 2, 3].map((ordinal) =>
      aVolume(`logs-nodes-${String(ordinal)}`, { engineUuid: "U", managers: 4 }),
    );
    const [action] = decidePools({ status: back, bootstrapList: "empty", volumes }).actions;
    expect(action).toMatchObject({ kind: "apply", object: { spec: { replicas: 4 } } });
    const removed = volumes.map((volume) =>
      volume.node.endsWith("3") ? { ...volume, holdsData: false, holdsManager: false } : volume,
    );
    expect(decidePools({ status: back, bootstrapList: "empty", volumes: removed }).actions).toMatchObject([
      { object: { spec: { replicas: 3 } } },
    ]);
    // A manager without data comes back as well; a volume of another cluster, or of none, makes no node.
    const replicasWith = (last: object): unknown =>
      decidePools({
        status: { ...back, clusterUuid: "U" },
        bootstrapList: "empty",
        volumes: volumes.map((volume) => (volume.node.endsWith("3") ? { ...volume, ...last } : volume)),
      }).actions.map((each) => (each.kind === "apply" ? each.object : undefined));
    expect(replicasWith({ holdsData: false })).toMatchObject([{ spec: { replicas: 4 } }]);
    expect(replicasWith({ engineUuid: "OLD" })).toMatchObject([{ spec: { replicas: 3 } }]);
    expect(replicasWith({ engineUuid: undefined })).toMatchObject([{ spec: { replicas: 3 } }]);
    const founded = decidePools({ status: pinned, bootstrapList: "filled", volumes }).actions;
    expect(founded).toMatchObject([{ object: { spec: { replicas: 3 } } }]);
  });

  test("[search/SC-114] a node is not added on a volume of another cluster", () => {
    const sets = new Map([
      ["nodes", { spec: { replicas: 2 }, metadata: { name: "logs-nodes" } }],
    ]) as unknown as Seen["statefulSets"];
    const decision = decidePools({
      status: formed,
      bootstrapList: "empty",
      statefulSets: sets,
      volumes: [aVolume("logs-nodes-2", { engineUuid: "V" })],
    });
    expect(decision).toMatchObject({
      rule: "foreignVolume",
      outcome: { kind: "stalled", why: { reason: "ForeignVolume" } },
    });
    expect(decision.actions).toMatchObject([{ kind: "apply", object: { spec: { replicas: 2 } } }]);
  });
});
