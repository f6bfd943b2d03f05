import { firstTen } from "@quartermaster/api";
import { waiting } from "@quartermaster/runtime";
import { configMaps } from "@quartermaster/runtime/kinds";

import { awaits, type LaneVerdict, type LaneRule, refuses, type SearchLane, nothingToDo } from "../lane.ts";
import { missingReferences } from "../material/spec-references.ts";
import { poolNames } from "../model/cluster-names.ts";
import { isManagerPool, podNames } from "../model/search-cluster.ts";
import { searchReasons } from "../reasons.ts";
import { applyAction } from "../search-action.ts";
import type { SearchAction } from "../search-action.ts";
import type { Seen } from "../seen.ts";
import { bootstrapConfigMap } from "../workload/cluster-config-maps.ts";
import { commonUuid, decideBootstrap, uuidsReported } from "./decide-bootstrap.ts";
import { type ClaimFact, claimRecheckMs, claimRefusal, claimsLeaving } from "./mounted-claims.ts";
import { volumeAnnotations } from "./volume-facts.ts";

/** Time for the status to be written and read back: what follows from an intent waits for it. */
const nextReconcileMs = 20;

/** The names of all nodes that are declared to be managers. */
function declaredManagers({ cluster }: Pick<Seen, "cluster">): readonly string[] {
  return cluster.pools.filter(isManagerPool).flatMap((pool) => podNames(cluster, pool));
}

function bootstrapListAction({ cluster }: Seen, managers: readonly string[]): SearchAction {
  return applyAction(configMaps, bootstrapConfigMap(cluster, managers), cluster);
}

function intends(intent: NonNullable<LaneVerdict["intent"]>, message: string): LaneVerdict {
  const why = { reason: searchReasons.bootstrapping, message };
  return { actions: [], outcome: waiting(why, nextReconcileMs), intent, actor: "operator" };
}

const awaitMaterial: LaneRule = {
  name: "awaitMaterial",
  decide: ({ material: { missing }, status }) => {
    if (missing.length === 0 || status.clusterUuid !== undefined) return undefined;
    const isOurs = missing.every((what) => what.startsWith("own "));
    return awaits(
      searchReasons.awaitingMaterial,
      `No pod is started before ${firstTen(missing.map((what) => what.replace(/^own /, "")))} ${missing.length === 1 ? "is" : "are"} there.`,
      { actor: isOurs ? "operator" : "user" },
    );
  },
};

/**
 * Pods mount claims by name, and volumes are known by label: both must agree before it is decided what the volumes hold. A claim of
 * another cluster, or of no cluster, is neither founded upon nor recovered from.
 */
const claimsDiffer: LaneRule = {
  name: "claimsDiffer",
  decide: ({ status, claims, volumes }) => {
    if (status.bootstrap?.mode !== undefined) return undefined;
    const refusal = claimRefusal(claims);
    // Claims without our labels are not watched.
    if (refusal !== undefined) return refuses(searchReasons.foreignVolume, refusal, claimRecheckMs);
    const isInStore = ({ name, uid }: ClaimFact): boolean =>
      volumes.find((volume) => volume.name === name)?.uid === uid;
    const unsettled = [
      ...claimsLeaving(claims),
      ...claims.filter((claim) => claim.state !== "leaving" && !isInStore(claim)).map(({ name }) => name),
    ];
    if (unsettled.length === 0) return undefined;
    return awaits(
      searchReasons.bootstrapping,
      `Pods are made once the claims that they mount have settled: ${firstTen(unsettled)}.`,
      { actor: "operator", retryAfterMs: 2_000 },
    );
  },
};

/** Once, before the first StatefulSet; later volumes of our own would seem to be those of an earlier cluster. */
const decideStart: LaneRule = {
  name: "decideStart",
  decide: (seen) => {
    const { status, volumes, cluster } = seen;
    if (status.bootstrap?.mode !== undefined) return undefined;
    const decision = decideBootstrap({
      managers: declaredManagers(seen),
      volumes,
      acceptNewCluster: cluster.requests.acceptNewCluster,
    });
    if (decision.mode === "Refuse") return refuses(decision.reason, decision.message);
    // The same nodes may found it after all: nodes that formed a cluster ignore the list.
    const initialManagers = decision.mode === "Found" || decision.mayFound ? [...declaredManagers(seen)] : [];
    const accepted = decision.mode === "Found" ? decision.acceptedNewCluster : undefined;
    return intends(
      {
        bootstrap: {
          mode: decision.mode,
          initialManagers,
          ...(accepted === undefined ? {} : { acceptedNewCluster: accepted }),
        },
      },
      decision.mode === "Found"
        ? "A new cluster is founded."
        : "The cluster comes back from the volumes that are here.",
    );
  },
};

const writeBootstrapList: LaneRule = {
  name: "writeBootstrapList",
  decide: (seen) => {
    const { status, bootstrapList } = seen;
    if (status.clusterUuid !== undefined || bootstrapList !== "absent") return undefined;
    return awaits(searchReasons.bootstrapping, "The list of the first managers is written.", {
      actor: "operator",
      actions: [bootstrapListAction(seen, status.bootstrap?.initialManagers ?? [])],
    });
  },
};

const splitCluster: LaneRule = {
  name: "splitCluster",
  decide: ({ engine, status }) => {
    const reported = uuidsReported(engine);
    const uuids = new Set([
      ...reported.values(),
      ...(status.clusterUuid === undefined ? [] : [status.clusterUuid]),
    ]);
    if (uuids.size < 2) return undefined;
    const table = [...reported].map(([node, uuid]) => `${node}: ${uuid}`).join(", ");
    return refuses(
      searchReasons.splitCluster,
      `The nodes belong to different clusters (${table}). Nothing is deleted: decide whose data counts, then remove the claims of the others.`,
    );
  },
};

const recordFormation: LaneRule = {
  name: "recordFormation",
  decide: (seen) => {
    if (seen.status.clusterUuid !== undefined) return undefined;
    const pinned = seen.status.bootstrap?.initialManagers ?? [];
    const uuid = commonUuid(seen.engine, pinned.length === 0 ? declaredManagers(seen) : pinned);
    if (uuid === undefined) return undefined;
    return {
      ...intends({ clusterUuid: uuid }, "The cluster has formed."),
      actions: [{ kind: "record", event: formedEvent(seen, uuid) }],
    };
  },
};

function formedEvent(
  { status, cluster }: Seen,
  uuid: string,
): {
  readonly type: "Normal";
  readonly reason: string;
  readonly action: string;
  readonly note: string;
} {
  const isBack = status.bootstrap?.mode === "Recover";
  return {
    type: "Normal",
    reason: isBack ? "Recovered" : "Formed",
    action: "FormCluster",
    note: `Cluster ${cluster.name} has ${isBack ? "come back" : "formed"} with UUID ${uuid}.`,
  };
}

const awaitFormation: LaneRule = {
  name: "awaitFormation",
  decide: (seen, now) => {
    if (seen.status.clusterUuid !== undefined) return undefined;
    const managers = declaredManagers(seen);
    const running = seen.pods.filter(({ name, isTerminating }) => managers.includes(name) && !isTerminating);
    const trouble = seen.pods.flatMap((pod) =>
      pod.trouble === undefined ? [] : [`${pod.name}: ${pod.trouble}`],
    );
    const isEngineNext = running.length === managers.length && trouble.length === 0;
    return awaits(
      searchReasons.bootstrapping,
      // The same while pods come up one by one: each new sentence is a write.
      `Its managers start; the cluster has not formed yet.${trouble.length === 0 ? "" : ` ${trouble.slice(0, 3).join("; ")}.`}${podsMissing(seen, now)}`,
      { actor: isEngineNext ? "engine" : "kubelet", retryAfterMs: 2_000 },
    );
  },
};

/** Maximum time that a new StatefulSet may be without a pod before it is reported. */
const podTimeoutMs = 10_000;

/** A StatefulSet without a pod: what refused it, such as the namespace's pod security or a quota, stands in the StatefulSet's events only. */
function podsMissing({ cluster, pods, statefulSets }: Seen, now: Date): string {
  const isLate = (name: string): boolean => {
    const { creationTimestamp = "" } = statefulSets.get(name)?.metadata ?? {};
    return now.getTime() - Date.parse(creationTimestamp) >= podTimeoutMs;
  };
  const empty = cluster.pools
    .filter(({ name, replicas }) => replicas > 0 && isLate(name))
    .filter(({ name }) => pods.every(({ pool }) => pool !== name))
    .map((pool) => poolNames(cluster, pool).statefulSet);
  const [first] = empty;
  if (first === undefined) return "";
  return ` StatefulSet ${empty.join(", ")} has no pod: its events say whether the namespace refuses them (kubectl describe statefulset ${first}).`;
}

/** A manager that is wiped later must not find the list and found a cluster of its own. */
const closeBootstrap: LaneRule = {
  name: "closeBootstrap",
  decide: (seen) => {
    if (seen.bootstrapList !== "filled") return undefined;
    return awaits(searchReasons.bootstrapping, "The list of the first managers is emptied.", {
      actor: "operator",
      actions: [bootstrapListAction(seen, [])],
    });
  },
};

const annotateVolumes: LaneRule = {
  name: "markVolumes",
  decide: (seen) => {
    const actions = volumeAnnotations(seen);
    if (actions.length === 0) return undefined;
    return awaits(searchReasons.bootstrapping, "The volumes are labeled with the cluster's UUID.", {
      actor: "operator",
      actions,
    });
  },
};

/** A reference to nothing is never silent. What runs continues as it is: nothing is restarted into waiting for it. */
const referencesMissing: LaneRule = {
  name: "referencesMissing",
  decide: ({ material }) => {
    const missing = missingReferences(material.missing);
    if (missing.length === 0) return undefined;
    return awaits(
      searchReasons.awaitingMaterial,
      `The spec names what does not exist: ${firstTen(missing)}. Create it, or remove the reference; it is picked up when it appears.`,
      { actor: "user" },
    );
  },
};

/** How a cluster comes to be: rules N1 to N11. */
export const formationLane: SearchLane = {
  name: "formation",
  rules: [
    awaitMaterial,
    claimsDiffer,
    decideStart,
    writeBootstrapList,
    splitCluster,
    recordFormation,
    awaitFormation,
    closeBootstrap,
    annotateVolumes,
    referencesMissing,
    { name: "formed", decide: () => nothingToDo },
  ],
};
