import type { ObjectMeta } from "@quartermaster/runtime";
import { describe, expect, test } from "vitest";

import { formationLane } from "../../src/formation/formation-lane.ts";
import { type ClaimFact, judgeClaim } from "../../src/formation/mounted-claims.ts";
import { decideLane, type LaneDecision } from "../../src/lane.ts";
import { ownerAnnotations, ownerLabels } from "../../src/owner-labels.ts";
import { claimedPods, poolsLane } from "../../src/pools/pools-lane.ts";
import type { Seen } from "../../src/seen.ts";
import { aPool, aSearchCluster } from "../a-search-cluster.ts";
import { aPod, aSeen, aVolume } from "../support/a-seen.ts";

const now = new Date("2026-11-18T10:00:00Z");
const pod = { node: "a-b-c-0", pool: "c", isNew: true };
const cluster = { name: "a-b", distribution: "opensearch", version: "2.19.4" } as const;

const ours = {
  [ownerLabels.cluster]: "a-b",
  [ownerLabels.uid]: "an-earlier-uid",
  [ownerLabels.pool]: "c",
  [ownerLabels.distribution]: "opensearch",
  [ownerLabels.version]: "2.19.4",
};
const { [ownerLabels.distribution]: _d, [ownerLabels.version]: _v, ...older } = ours;

function claim(labels: Readonly<Record<string, string>>, more: Partial<ObjectMeta> = {}): ObjectMeta {
  return { name: "data-a-b-c-0", uid: "u", labels, ...more };
}

describe("[security/108] whose the claim is that a pod would mount", () => {
  test.for<[string, ObjectMeta | undefined, ClaimFact["state"], string]>([
    ["there is none", undefined, "absent", ""],
    ["this cluster's, of an earlier object", claim(ours), "ours", ""],
    ["no labels", claim({}), "foreign", "no owner labels"],
    [
      "labels without the uid",
      claim({ ...ours, [ownerLabels.uid]: undefined } as never),
      "foreign",
      "no owner labels",
    ],
    [
      "cluster a, pool b-c",
      claim({ ...ours, [ownerLabels.cluster]: "a", [ownerLabels.pool]: "b-c" }),
      "foreign",
      "cluster a",
    ],
    ["another pool", claim({ ...ours, [ownerLabels.pool]: "d" }), "foreign", "pool d"],
    [
      "Elasticsearch's",
      claim({ ...ours, [ownerLabels.distribution]: "elasticsearch" }),
      "foreign",
      "elasticsearch",
    ],
    ["another version", claim({ ...ours, [ownerLabels.version]: "3.0.0" }), "foreign", "version 3.0.0"],
    [
      "another version, emptied when its node was removed",
      claim(
        { ...ours, [ownerLabels.version]: "2.19.3" },
        { annotations: { [ownerAnnotations.holds]: "nothing" } },
      ),
      "ours",
      "",
    ],
    ["older, of OpenSearch", claim({ ...older, "opensearch.org/opensearch-cluster": "a-b" }), "ours", ""],
    [
      "older, of Elasticsearch",
      claim({ ...older, "search.quartermaster.dev/elasticsearch-cluster": "a-b" }),
      "foreign",
      "elasticsearch",
    ],
    ["older, of nothing known", claim(older), "foreign", "unknown distribution"],
    ["being deleted", claim({}, { deletionTimestamp: "2026-11-18T09:00:00Z" }), "leaving", ""],
  ])("%s", ([, metadata, state, why]) => {
    const fact = judgeClaim(pod, metadata, cluster);
    expect(fact).toMatchObject({ name: "data-a-b-c-0", state });
    expect(fact.why).toContain(why);
  });
});

const aClaim = (node: string, state: ClaimFact["state"], uid?: string): ClaimFact => ({
  node,
  pool: "nodes",
  isNew: true,
  name: `data-${node}`,
  state,
  uid,
  why: state === "foreign" ? "it belongs to cluster x" : "",
});

describe("[security/108] what claims decide", () => {
  const logs = aSearchCluster({ pools: [aPool({ replicas: 1 })] });
  const decide = (changes: Partial<Seen>): LaneDecision =>
    decideLane(formationLane, aSeen({ cluster: logs, ...changes }), now);

  test.for<[string, Partial<Seen>, string, string]>([
    ["a free name", { claims: [aClaim("logs-nodes-0", "absent")] }, "decideStart", "waiting"],
    ["a foreign claim", { claims: [aClaim("logs-nodes-0", "foreign", "u")] }, "claimsDiffer", "stalled"],
    [
      "a claim that is being deleted",
      { claims: [aClaim("logs-nodes-0", "leaving", "u")] },
      "claimsDiffer",
      "waiting",
    ],
    [
      "a claim that the store does not show yet",
      { claims: [aClaim("logs-nodes-0", "ours", "u")] },
      "claimsDiffer",
      "waiting",
    ],
    [
      "a claim that only the store still shows",
      { claims: [aClaim("logs-nodes-0", "absent")], volumes: [aVolume("logs-nodes-0")] },
      "claimsDiffer",
      "waiting",
    ],
    [
      "a claim that was made again",
      { claims: [aClaim("logs-nodes-0", "ours", "another")], volumes: [aVolume("logs-nodes-0")] },
      "claimsDiffer",
      "waiting",
    ],
    [
      "both agree",
      { claims: [aClaim("logs-nodes-0", "ours", "pvc-logs-nodes-0")], volumes: [aVolume("logs-nodes-0")] },
      "decideStart",
      "waiting",
    ],
  ])("before the start: %s", ([, changes, rule, outcome]) => {
    expect(decide(changes)).toMatchObject({ rule, outcome: { kind: outcome }, actions: [] });
  });

  const two = aSearchCluster({ pools: [aPool({ replicas: 2 }), aPool({ name: "other", replicas: 1 })] });
  const set = { metadata: { name: "logs-nodes", uid: "s" }, spec: { replicas: 1, template: {} } };
  const growing = (changes: Partial<Seen>): readonly string[] => {
    const { outcome, actions } = decideLane(
      poolsLane,
      aSeen({
        cluster: two,
        status: { clusterUuid: "U", bootstrap: { mode: "Found" } },
        bootstrapList: "empty",
        statefulSets: new Map([["nodes", set]]) as never,
        ...changes,
      }),
      now,
    );
    const sets = actions.flatMap((action) =>
      action.kind === "apply"
        ? [action.object as { metadata: { name: string }; spec?: { replicas?: number } }]
        : [],
    );
    return [outcome.kind, ...sets.map(({ metadata, spec }) => `${metadata.name} ${String(spec?.replicas)}`)];
  };

  test("claims are read of pods to come, and of pods whose claim the store does not show as ours", () => {
    const seen = aSeen({
      cluster: two,
      statefulSets: new Map([["nodes", set]]) as never,
      pods: [aPod("logs-nodes-0")],
    });
    expect(claimedPods(seen)).toEqual([
      { node: "logs-nodes-1", pool: "nodes", isNew: true },
      { node: "logs-nodes-0", pool: "nodes", isNew: false },
      { node: "logs-other-0", pool: "other", isNew: true },
    ]);
    const known = { ...seen, volumes: [aVolume("logs-nodes-0")] };
    expect(claimedPods(known).map(({ node }) => node)).toEqual(["logs-nodes-1", "logs-other-0"]);
    const absurd = { ...set, spec: { ...set.spec, replicas: 1e9 } };
    expect(claimedPods({ ...known, statefulSets: new Map([["nodes", absurd]]) as never })).toHaveLength(1);
  });

  test.for<[string, Partial<Seen>, readonly string[]]>([
    ["free", { claims: [aClaim("logs-nodes-1", "absent")] }, ["waiting", "logs-nodes 2", "logs-other 1"]],
    [
      "foreign: the other pool grows",
      { claims: [aClaim("logs-nodes-1", "foreign", "u")] },
      ["stalled", "logs-nodes 1", "logs-other 1"],
    ],
    [
      "foreign, of a pod that runs on it: the other pool grows",
      { claims: [{ ...aClaim("logs-nodes-0", "foreign", "u"), isNew: false }] },
      ["stalled", "logs-nodes 1", "logs-other 1"],
    ],
    [
      "being deleted: the other pool grows",
      { claims: [aClaim("logs-nodes-1", "leaving", "u")] },
      ["waiting", "logs-nodes 1", "logs-other 1"],
    ],
    [
      "[first-use/11] being deleted, of a pod that runs on it: both pools grow, and it is said",
      { claims: [{ ...aClaim("logs-nodes-0", "leaving", "u"), isNew: false }] },
      ["waiting", "logs-nodes 2", "logs-other 1"],
    ],
    [
      "[search/SC-114] of an earlier cluster of this name",
      {
        claims: [aClaim("logs-nodes-1", "ours", "u")],
        volumes: [aVolume("logs-nodes-1", { uid: "u", engineUuid: "OLD" })],
      },
      ["stalled", "logs-nodes 1", "logs-other 1"],
    ],
    [
      "foreign, before the cluster has formed: nothing is made",
      { claims: [aClaim("logs-nodes-1", "foreign", "u")], status: { bootstrap: { mode: "Found" } } },
      ["stalled"],
    ],
  ])("growing, the claim is %s", ([, changes, want]) => {
    expect(growing(changes)).toEqual(want);
  });
});
