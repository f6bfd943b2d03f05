import { openSearchCluster, opsterOpenSearchCluster } from "@quartermaster/api";
import type { Kind } from "@quartermaster/runtime";
import {
  deployments,
  persistentVolumeClaims,
  pods,
  secrets,
  statefulSets,
} from "@quartermaster/runtime/kinds";
import { describe, expect, test } from "vitest";

import { certificatesLane } from "../../src/certificates/certificates-lane.ts";
import { formationLane } from "../../src/formation/formation-lane.ts";
import type { ClaimFact } from "../../src/formation/mounted-claims.ts";
import { NO_LICENSE } from "../../src/license/observe-license.ts";
import { poolsLane } from "../../src/pools/pools-lane.ts";
import { searchReasons } from "../../src/reasons.ts";
import { repositoriesLane } from "../../src/repositories/repositories-lane.ts";
import { searchRules } from "../../src/rules.ts";
import { watchedBy } from "../../src/watched-by.ts";
import { aPool, aSearchCluster } from "../a-search-cluster.ts";
import { aRoll } from "../support/a-roll.ts";
import { aMaterial, aPod, aSeen, aVolume, engineFacts, identities, known } from "../support/a-seen.ts";
import {
  decided,
  formed,
  hour,
  isWokenByObject,
  isWokenBySample,
  nowMs,
  unreachable,
  type WakeUp,
} from "../support/wake-up.ts";
import { licenseWakeUps } from "../support/wake-ups-of-license.ts";
import { nodesWakeUps } from "../support/wake-ups-of-nodes.ts";

const now = new Date(nowMs);
const leaving: ClaimFact = {
  node: "logs-nodes-0",
  pool: "nodes",
  isNew: false,
  name: "data-logs-nodes-0",
  state: "leaving",
  uid: "u",
  why: "",
};
const foreign: ClaimFact = {
  ...leaving,
  state: "foreign",
  isNew: true,
  why: "it has no owner labels of a cluster",
};
const declared = aSearchCluster({ dynamicSettings: { "a.b": "1" } });
const registered = aSearchCluster({ repositories: [{ name: "r", type: "fs", settings: {} }] });
const theirs = { name: "r", type: "fs", settings: { location: "/theirs" } };
const spec: readonly WakeUp[] = [{ by: "edit" }];

/** Every reason has a row: how it goes, and what brings the cluster back then. A reason without one does not compile. */
const wakeUps: Readonly<Record<keyof typeof searchReasons, readonly WakeUp[]>> = {
  ...licenseWakeUps,
  ...nodesWakeUps,
  caLost: [
    {
      by: "object",
      kind: secrets,
      lane: certificatesLane,
      comes: aSeen({
        status: formed,
        material: aMaterial({
          ca: { name: "logs-ca", state: "missing", live: undefined, pair: undefined },
        }),
      }),
      goes: { material: aMaterial() },
    },
  ],
  awaitingMaterial: [
    {
      by: "followed",
      lane: formationLane,
      comes: aSeen({ material: aMaterial({ missing: ["Secret theirs"] }) }),
      goes: { material: aMaterial() },
    },
    { by: "object", kind: secrets },
  ],
  bootstrapping: [
    {
      by: "engine",
      comes: aSeen({
        status: { bootstrap: { mode: "Found", initialManagers: ["logs-nodes-0"] } },
        bootstrapList: "filled",
        pods: [aPod("logs-nodes-0")],
      }),
      goes: { identities: identities({ "logs-nodes-0": "U" }) },
    },
    { by: "object", kind: pods },
  ],
  capacityExceeded: [
    {
      by: "followed",
      lane: poolsLane,
      comes: aSeen({
        status: formed,
        cluster: aSearchCluster({ pools: [aPool({ replicas: 3 })] }),
        license: { ...NO_LICENSE, grantedNodes: 2 },
      }),
      goes: { license: { ...NO_LICENSE, grantedNodes: 3 } },
    },
  ],
  certificatesNotServed: [
    {
      by: "engine",
      comes: aSeen({
        engine: engineFacts({ served: new Map([["a", known({ http: "old", transportEndMs: 1 })]]) }),
      }),
      goes: { served: new Map([["a", known({ http: "new", transportEndMs: 1 })]]) },
    },
    {
      by: "engine",
      comes: aSeen({
        engine: engineFacts({ served: new Map([["a", known({ http: "new", transportEndMs: 1 })]]) }),
      }),
      goes: { served: new Map([["a", known({ http: "new", transportEndMs: 2 })]]) },
    },
  ],
  claimDeleting: [
    {
      by: "object",
      kind: persistentVolumeClaims,
      lane: poolsLane,
      comes: aRoll({ seen: { claims: [leaving] } }),
      goes: { claims: [] },
    },
  ],
  dashboardsPending: [{ by: "object", kind: deployments }],
  dataFromAnotherCluster: [
    {
      by: "object",
      kind: persistentVolumeClaims,
      lane: formationLane,
      comes: aSeen({
        volumes: ["U", "V"].map((engineUuid, at) => aVolume(`logs-nodes-${String(at)}`, { engineUuid })),
      }),
      goes: { volumes: [] },
    },
    { by: "edit" },
  ],
  engineCallFailed: [{ by: "retry" }],
  foreignVolume: [
    {
      by: "poll",
      lane: formationLane,
      comes: aSeen({ claims: [foreign] }),
      goes: { claims: [] },
      withinMs: 30_000,
    },
    {
      by: "poll",
      lane: poolsLane,
      comes: aSeen({ status: formed, bootstrapList: "empty", claims: [foreign] }),
      goes: { claims: [] },
      withinMs: 30_000,
    },
  ],
  handover: [
    { by: "object", kind: opsterOpenSearchCluster.kind },
    { by: "object", kind: statefulSets },
  ],
  invalidPodTemplate: spec,
  invalidSpec: spec,
  monitoringPending: [{ by: "object", kind: deployments }],
  // In the gate a name is looked for again; where an object without our labels has it, see `perform-objects.test.ts`.
  nameClash: [{ by: "object", kind: statefulSets }],
  paused: spec,
  pluginSourceNotAllowed: spec,
  quorumVolumesMissing: [
    {
      by: "object",
      kind: persistentVolumeClaims,
      lane: formationLane,
      comes: aSeen({
        cluster: aSearchCluster({ pools: [aPool({ replicas: 3 })] }),
        volumes: [aVolume("logs-nodes-0", { engineUuid: "U", managers: 3 })],
      }),
      goes: {
        volumes: [0, 1].map((at) => aVolume(`logs-nodes-${String(at)}`, { engineUuid: "U", managers: 3 })),
      },
    },
  ],
  repositoriesPending: [
    {
      by: "engine",
      comes: aSeen({
        cluster: registered,
        status: formed,
        engine: engineFacts({ repositories: unreachable }),
      }),
      goes: { repositories: known([]) },
    },
  ],
  repositoryConflict: [
    {
      by: "engine",
      lane: repositoriesLane,
      comes: aSeen({
        cluster: registered,
        status: formed,
        engine: engineFacts({ repositories: known([theirs]) }),
      }),
      goes: { repositories: known([]) },
    },
  ],
  repositoryNotAllowed: spec,
  repositoryRefused: [{ by: "retry" }],
  repositoryUnverified: [{ by: "retry" }],
  reservedSetting: spec,
  scaling: [{ by: "object", kind: statefulSets }],
  secretConflict: [
    {
      by: "followed",
      lane: certificatesLane,
      comes: aSeen({
        material: aMaterial({
          ca: { name: "logs-ca", state: "foreign", live: undefined, pair: undefined },
        }),
      }),
      goes: { material: aMaterial() },
    },
  ],
  securityRefused: [{ by: "followed" }, { by: "retry" }],
  settingRefused: [{ by: "retry" }],
  settingShadowed: [
    {
      by: "engine",
      comes: aSeen({
        cluster: declared,
        status: formed,
        engine: engineFacts({ settings: known({ persistent: { "a.b": "1" }, transient: { "a.b": "2" } }) }),
      }),
      goes: { settings: known({ persistent: { "a.b": "1" }, transient: {} }) },
    },
  ],
  settingsPending: [
    {
      by: "engine",
      comes: aSeen({
        cluster: declared,
        status: { ...formed, clusterSettings: [] },
        engine: engineFacts({ settings: unreachable }),
      }),
      goes: { settings: known({ persistent: { "a.b": "1" }, transient: {} }) },
    },
  ],
  splitCluster: [
    {
      by: "engine",
      lane: formationLane,
      comes: aSeen({
        status: { ...formed, bootstrap: { mode: "Found", initialManagers: [] } },
        bootstrapList: "empty",
        engine: engineFacts({ identities: identities({ a: "U", b: "V" }) }),
      }),
      goes: { identities: identities({ a: "U", b: "U" }) },
    },
  ],
  supersededByNewGroup: [{ by: "object", kind: opsterOpenSearchCluster.kind }],
};

interface Row {
  readonly reason: string;
  readonly by: WakeUp["by"];
  readonly wakeUp: WakeUp;
}

const rows: readonly Row[] = Object.entries(wakeUps).flatMap(([key, list]) =>
  list.map((wakeUp) => ({ reason: searchReasons[key as keyof typeof searchReasons], by: wakeUp.by, wakeUp })),
);
const by = <B extends WakeUp["by"]>(
  kind: B,
): readonly (Row & { readonly wakeUp: Extract<WakeUp, { readonly by: B }> })[] =>
  rows.filter(
    (row): row is Row & { readonly wakeUp: Extract<WakeUp, { readonly by: B }> } => row.by === kind,
  );

describe("the cause of a reason goes, and the cluster comes back", () => {
  test.each(by("engine"))("$reason: a sample differs", ({ reason, wakeUp: { lane, comes, goes } }) => {
    const after = { ...comes, engine: { ...comes.engine, ...goes } };
    expect(isWokenBySample(comes.engine, after.engine)).toBe(true);
    const found =
      lane === undefined
        ? undefined
        : [decided(lane, comes, now).reason, decided(lane, after, now).reason === reason];
    expect(found).toEqual(lane === undefined ? undefined : [reason, false]);
  });

  test.each(by("object"))(
    "$reason: an event of $wakeUp.kind.kind",
    ({ reason, wakeUp: { kind, lane, comes, goes } }) => {
      expect(isWokenByObject(kind)).toBe(true);
      const isDecided = lane !== undefined && comes !== undefined;
      const found = isDecided
        ? [decided(lane, comes, now).reason, decided(lane, { ...comes, ...goes }, now).reason === reason]
        : [];
      expect(found).toEqual(isDecided ? [reason, false] : []);
    },
  );

  test.each(by("followed"))(
    "$reason: an object that is followed",
    ({ reason, wakeUp: { lane, comes, goes } }) => {
      const isDecided = lane !== undefined && comes !== undefined;
      const found = isDecided
        ? [decided(lane, comes, now).reason, decided(lane, { ...comes, ...goes }, now).reason === reason]
        : [];
      expect(found).toEqual(isDecided ? [reason, false] : []);
    },
  );

  test.each(by("time"))(
    "$reason: after a time that the lane itself says",
    ({ reason, wakeUp: { lane, comes, afterMs } }) => {
      const first = decided(lane, comes, now);
      expect(first).toEqual({ reason, againMs: Math.min(afterMs, 10 * hour) });
      const [before, then] = [afterMs - 1_000, afterMs].map(
        (ms) => decided(lane, comes, new Date(nowMs + ms)).reason === reason,
      );
      expect([before, then]).toEqual([true, false]);
    },
  );

  test.each(by("poll"))(
    "$reason: looked for again",
    ({ reason, wakeUp: { lane, comes, goes, withinMs } }) => {
      const { reason: first, againMs } = decided(lane, comes, now);
      expect([first, againMs <= withinMs]).toEqual([reason, true]);
      expect(decided(lane, { ...comes, ...goes }, now).reason).not.toBe(reason);
    },
  );

  test.each(by("edit").filter(({ wakeUp }) => wakeUp.lane !== undefined))(
    "$reason: stays until it is edited",
    ({ reason, wakeUp: { lane, comes } }) => {
      expect(lane === undefined || comes === undefined ? "" : decided(lane, comes, now).reason).toBe(reason);
    },
  );

  test.each(["nameClash", "inheritChildren"])("the gate %s looks again on its own", (name) => {
    const rule = searchRules.find((each) => each.name === name);
    const predecessor = { uid: "o", status: {}, isDeletionProtected: true, left: [] };
    const left = [
      { kind: secrets, name: "s", uid: "u", isTerminating: false, resourceVersion: "1" },
    ] as never;
    const seen = aSeen({ takenNames: ["Service logs"], predecessor: { ...predecessor, left } });
    const outcome = rule?.decide(seen, now)?.outcome;
    expect(
      outcome !== undefined && "retryAfterMs" in outcome && (outcome.retryAfterMs ?? Infinity) <= 30_000,
    ).toBe(true);
  });
});

describe("what brings a cluster back", () => {
  const watched: readonly Kind[] = [pods, persistentVolumeClaims, secrets];

  test.each(watched.map((kind) => ({ kind })))("an event of $kind.kind with its labels", ({ kind }) => {
    expect(isWokenByObject(kind)).toBe(true);
  });

  test.each([
    { of: openSearchCluster.kind, other: opsterOpenSearchCluster.kind },
    { of: opsterOpenSearchCluster.kind, other: openSearchCluster.kind },
  ])("one of the same name in the other group: $of.group", ({ of, other }) => {
    const groups = watchedBy(of).map(({ source }) => ("plural" in source ? source.group : source.kind.group));
    expect(groups).toContain(other.group);
    expect(groups).not.toContain(of.group);
  });
});
