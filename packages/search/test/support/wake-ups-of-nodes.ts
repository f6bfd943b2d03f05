import { pods } from "@quartermaster/runtime/kinds";

import { nodesLane } from "../../src/nodes/nodes-lane.ts";
import { janitorLane } from "../../src/repair/janitor-lane.ts";
import { aRoll, managersAndData, shardOn } from "./a-roll.ts";
import { known } from "./a-seen.ts";
import { green, hour, minute, unreachable, type WakeUp } from "./wake-up.ts";

const outdated = aRoll({ outdated: ["logs-data-1"] });
const draining = aRoll({
  cluster: managersAndData(3, 2),
  slots: { data: 3 },
  shards: shardOn("x", ["logs-data-2", "logs-data-0"]),
  status: {
    operation: {
      id: "r",
      type: "Remove",
      node: "logs-data-2",
      pool: "data",
      podUid: "uid-logs-data-2",
      cause: "c",
      startedAt: "2026-11-17T09:59:00Z",
      step: "Drain",
      drains: true,
      progressedAt: "2026-11-17T09:59:00Z",
    },
  },
  engine: {
    settings: known({
      persistent: {
        "cluster.routing.allocation.exclude._name": "logs-data-2",
        "cluster.metadata.quartermaster_excluded": "logs-data-2",
      },
      transient: {},
    }),
  },
});
const full = aRoll({
  cluster: managersAndData(3, 2),
  slots: { data: 3 },
  shards: shardOn("x", ["logs-data-2", "logs-data-0", "logs-data-1"]),
});

/** Reasons of the lanes of nodes. */
export const nodesWakeUps = {
  clusterRed: [
    {
      by: "engine",
      lane: nodesLane,
      comes: aRoll({ engine: { health: known({ ...green, status: "red" }) } }),
      goes: { health: known(green) },
    },
  ],
  drainStalled: [
    {
      by: "time",
      lane: nodesLane,
      comes: aRoll({
        cluster: managersAndData(3, 2),
        slots: { data: 3 },
        status: {
          stalledDrain: {
            node: "logs-data-2",
            attempts: 1,
            message: "It stays.",
            retryAt: "2026-11-17T10:05:00Z",
          },
        },
      }),
      afterMs: 5 * minute,
    },
  ],
  draining: [
    {
      by: "engine",
      comes: draining,
      goes: { shards: known(shardOn("x", ["logs-data-1", "logs-data-0"])) },
    },
  ],
  memberMissing: [
    {
      by: "object",
      kind: pods,
      lane: nodesLane,
      comes: aRoll({ down: ["logs-data-0"] }),
      goes: aRoll(),
    },
    {
      by: "engine",
      lane: nodesLane,
      comes: aRoll({ engine: { nodes: known([]) } }),
      goes: { nodes: aRoll().engine.nodes },
    },
  ],
  notSupportedYet: [{ by: "edit", lane: nodesLane, comes: aRoll({ seen: { heldVersion: "3.0.0" } }) }],
  outsideWindow: [
    {
      by: "time",
      lane: nodesLane,
      comes: aRoll({
        outdated: ["logs-data-1"],
        cluster: {
          ...managersAndData(3, 2),
          windows: [{ cron: "1 10 * * *", timeZone: "UTC", durationMs: hour }],
        },
      }),
      afterMs: minute,
    },
  ],
  quorumLost: [
    {
      by: "engine",
      lane: nodesLane,
      comes: aRoll({
        engine: { coordination: unreachable, health: unreachable },
        seen: { volumes: [] },
        status: {
          nodes: [{ name: "logs-managers-0", voter: true, podUid: "x", pvcUid: "gone" }],
          conditions: [
            {
              type: "Available",
              status: "False",
              reason: "r",
              message: "",
              lastTransitionTime: "2026-11-17T09:55:00Z",
            },
          ],
        },
      }),
      goes: { coordination: aRoll().engine.coordination, health: known(green) },
    },
  ],
  releasing: [
    {
      by: "engine",
      lane: janitorLane,
      comes: aRoll({
        engine: {
          settings: known({ persistent: { "cluster.metadata.quartermaster_excluded": "x" }, transient: {} }),
        },
      }),
      goes: { settings: known({ persistent: {}, transient: {} }) },
    },
  ],
  removing: [
    { by: "object", kind: pods },
    {
      by: "engine",
      comes: draining,
      goes: {
        coordination: known({
          clusterUuid: "U",
          voters: ["logs-managers-0"],
          exclusions: ["logs-managers-1"],
          elected: undefined,
        }),
      },
    },
  ],
  restartRefused: [
    {
      by: "engine",
      lane: nodesLane,
      comes: aRoll({
        outdated: ["logs-data-1"],
        engine: {
          settings: known({ persistent: { "cluster.routing.allocation.enable": "none" }, transient: {} }),
        },
      }),
      goes: { settings: known({ persistent: {}, transient: {} }) },
    },
  ],
  restarting: [
    { by: "object", kind: pods },
    { by: "engine", comes: outdated, goes: { health: known({ ...green, initializingShards: 1 }) } },
  ],
  scaleDownRefused: [
    // How full disks are does not bring a cluster back: it would with every sample.
    {
      by: "poll",
      lane: nodesLane,
      comes: full,
      goes: {
        engine: {
          ...full.engine,
          shards: known([]),
          nodeLoad: aRoll({ slots: { data: 3 } }).engine.nodeLoad,
        },
      },
      withinMs: minute,
    },
  ],
  unreachable: [
    {
      by: "engine",
      lane: nodesLane,
      comes: aRoll({ engine: { health: unreachable } }),
      goes: { health: known(green) },
    },
  ],
} satisfies Readonly<Record<string, readonly WakeUp[]>>;
