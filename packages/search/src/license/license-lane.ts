import { licenseTypeRank } from "@quartermaster/license-selection";
import { type Outcome, settled, unreachable, waiting } from "@quartermaster/runtime";

import type { EngineErrorCode } from "../engine/engine-error.ts";
import type { EngineLicense, Fact } from "../engine/engine-facts.ts";
import { awaits, type LaneVerdict, type LaneRule, refuses, type SearchLane } from "../lane.ts";
import { searchReasons } from "../reasons.ts";
import type { SearchAction } from "../search-action.ts";
import type { Seen } from "../seen.ts";
import {
  currentLicense,
  rejections,
  reversion,
  type RunningLicense,
  runningLicense,
} from "./lost-license.ts";

/** One failed attempt a minute. */
const pauseMs = 60_000;
/** So long before its end a license may be followed by a lower one. */
const handoverMs = 24 * 3_600_000;
/** Timers of Node fire immediately beyond 24 days. */
const longestMs = 10 * 3_600_000;

const nothingRequested: LaneRule = {
  name: "nothingAsked",
  decide: (seen, now) => {
    const { wanted, desired, revertsToBasic } = seen.license;
    if (wanted !== undefined || desired !== undefined) return undefined;
    return { actions: [], outcome: revertsToBasic ? untilItsEnd(runningLicense(seen, now), now) : settled() };
  },
};

const unreadable: LaneRule = {
  name: "unreadable",
  decide: ({ license: { problem } }) =>
    problem === undefined ? undefined : refuses(problem.reason, problem.message),
};

/** Basic in place of a license that has ended or whose ClusterLicense no longer exists. */
const reverts: LaneRule = {
  name: "reverts",
  decide: (seen, now) => {
    const found = reversion(seen, now);
    switch (found?.kind) {
      case undefined:
        return undefined;
      case "blocked":
        return refuses(
          searchReasons.downgradeNotAllowed,
          `ClusterLicense ${found.lost.clusterLicense} is deleted, and license ${found.lost.uid} is still valid. It stays, unless the cluster has the annotation license.k8s.elastic.co/allow-downgrade: "true".`,
          // Once it has ended, basic takes its place.
          untilMs(runningLicense(seen, now)?.expiryMs, now),
        );
      case "wait":
        return awaits(
          searchReasons.licenseLost,
          `ClusterLicense ${found.lost.clusterLicense} is deleted. The cluster continues under basic 15 minutes later, unless it comes back.`,
          { actor: "user", retryAfterMs: found.leftMs },
        );
      case "startBasic":
        return (
          unknownLicense.decide(seen, now) ??
          failedLately.decide(seen, now) ??
          applying("A basic license is started.", {
            kind: "startLicense",
            type: "basic",
            digest: "start basic",
            from: found.from,
          })
        );
      default:
        return unreachable(found);
    }
  },
};

/** With the label only that type counts; without such a license the present one stays. */
const wrongType: LaneRule = {
  name: "wrongType",
  decide: ({ license: { wanted, desired } }) => {
    const canBeStarted = wanted === undefined && (desired === "basic" || desired === "trial");
    if (desired === undefined || canBeStarted || wanted?.type === desired) return undefined;
    return refuses(
      searchReasons.noMatchingLicense,
      `The label of the cluster requests a license of type ${desired}, and ${wanted === undefined ? "there is none" : `ClusterLicense ${wanted.name} is of type ${wanted.type}`}. The present license stays.`,
    );
  },
};

const alreadyRuns: LaneRule = {
  name: "alreadyRuns",
  decide: (seen, now) => {
    const { wanted, desired } = seen.license;
    const running = runningLicense(seen, now);
    if (running === undefined) return undefined;
    const isIt = wanted === undefined ? running.type === desired : running.uid === wanted.uid;
    if (!isIt) return undefined;
    if (running.isExpired)
      return refuses(
        searchReasons.licenseExpired,
        `License ${running.uid} of type ${running.type} has expired. Supply another one.`,
      );
    return { actions: [], outcome: untilItsEnd(running, now) };
  },
};

/** Nothing to do before a license ends. */
function untilItsEnd(running: RunningLicense | undefined, now: Date): Outcome {
  return settled(untilMs(running?.expiryMs, now));
}

/** Time until a moment, as far as a timer reaches; undefined for one that never comes. */
function untilMs(momentMs: number | undefined, now: Date): number | undefined {
  return momentMs === undefined ? undefined : Math.min(Math.max(0, momentMs - now.getTime()), longestMs);
}

const rejected: LaneRule = {
  name: "rejected",
  decide: (seen) => {
    const digest = seen.license.wanted?.digest ?? startDigest(seen);
    const found = rejections(seen).find((each) => each.digest === digest);
    if (found === undefined) return undefined;
    return refuses(
      found.reason ?? searchReasons.rejectedByCluster,
      `The engine refused license ${found.uid}${found.message === undefined || found.message === "" ? "" : `: ${found.message}`}. It is tried again when the license or the version changes.`,
    );
  },
};

/** A trial or basic license has no file. */
function startDigest({ license: { desired } }: Seen): string {
  return `start ${desired ?? ""}`;
}

/** Sent, such a license would make things worse. */
const outsideItsTime: LaneRule = {
  name: "outsideItsTime",
  decide: ({ license: { wanted } }, now) => {
    if (wanted === undefined) return undefined;
    const nowMs = now.getTime();
    if (wanted.expiryMs <= nowMs)
      return refuses(
        searchReasons.licenseExpired,
        `ClusterLicense ${wanted.name} has expired and is not applied. Supply another one.`,
      );
    if (wanted.startMs <= nowMs) return undefined;
    const why = {
      reason: searchReasons.licenseNotYetValid,
      message: `ClusterLicense ${wanted.name} does not hold yet.`,
    };
    return { actions: [], outcome: waiting(why, Math.min(wanted.startMs - nowMs, longestMs)) };
  },
};

/** Why the engine has not reported it. */
const unknownReasons: ReadonlyMap<string, string> = new Map<EngineErrorCode, string>([
  ["forbidden", searchReasons.authFailed],
  ["notFound", searchReasons.notReady],
  ["unavailable", searchReasons.notReady],
  ["timeout", searchReasons.unreachable],
  ["unreachable", searchReasons.unreachable],
]);

/** While it is unknown what runs, nothing is written. Health does not matter. */
const unknownLicense: LaneRule = {
  name: "unknownLicense",
  decide: (seen) => {
    const current = currentLicense(seen);
    if (current.isKnown) return undefined;
    return awaits(
      unknownReasons.get(current.why) ?? searchReasons.licensePending,
      "The engine has not reported its license yet; nothing is written before.",
      {
        actor: "engine",
        retryAfterMs: 5_000,
      },
    );
  },
};

const downgrade: LaneRule = {
  name: "downgrade",
  decide: (seen, now) => {
    const { license } = seen;
    const to = license.wanted?.type ?? license.desired;
    if (to === undefined || !isDowngrade(seen, to, now) || license.allowsDowngrade) return undefined;
    return refuses(
      searchReasons.downgradeNotAllowed,
      `Type ${to} is lower than that of the license which runs and is valid. It stays, unless the cluster has the annotation license.k8s.elastic.co/allow-downgrade: "true".`,
      untilHandover(seen, now),
    );
  },
};

/** Time until the license that runs makes way for a lower one. */
function untilHandover(seen: Seen, now: Date): number | undefined {
  const endMs = known(currentLicense(seen))?.expiryMs;
  return untilMs(endMs === undefined ? undefined : endMs - handoverMs, now);
}

/** Whether features would be lost that nothing else takes away soon. */
function isDowngrade(seen: Seen, to: string, now: Date): boolean {
  const current = known(currentLicense(seen));
  if (current === undefined || current.status !== "active") return false;
  const isEnding = current.expiryMs !== undefined && current.expiryMs - now.getTime() <= handoverMs;
  return !isEnding && licenseTypeRank(to) < licenseTypeRank(current.type);
}

function known(fact: Fact<EngineLicense>): EngineLicense | undefined {
  return fact.isKnown ? fact.value : undefined;
}

const failedLately: LaneRule = {
  name: "failedLately",
  decide: ({ license: { attempt } }, now) => {
    if (attempt?.outcome !== "failed") return undefined;
    const leftMs = attempt.wallMs + pauseMs - now.getTime();
    if (leftMs <= 0 || leftMs > pauseMs) return undefined;
    return awaits(attempt.reason, attempt.message, { actor: "engine", retryAfterMs: leftMs });
  },
};

const applyFile: LaneRule = {
  name: "applyFile",
  decide: (seen, now) => {
    const { wanted } = seen.license;
    if (wanted === undefined) return undefined;
    const { uid, digest, file, startMs } = wanted;
    return applying(`License ${uid} is applied.`, {
      kind: "putLicense",
      uid,
      digest,
      file,
      startMs,
      // Else its warnings about lost features would never be seen.
      warnsFirst: isDowngrade(seen, wanted.type, now),
    });
  },
};

const start: LaneRule = {
  name: "start",
  decide: ({ license: { desired: type } }) => {
    if (type !== "basic" && type !== "trial") return undefined;
    return applying(`A ${type} license is started.`, {
      kind: "startLicense",
      type,
      digest: `start ${type}`,
    });
  },
};

function applying(message: string, action: SearchAction): LaneVerdict {
  return awaits(searchReasons.licensePending, message, {
    actor: "operator",
    actions: [action],
    retryAfterMs: 1_000,
  });
}

/** The license of an Elasticsearch cluster. Needs one node that responds, never health. */
export const licenseLane: SearchLane = {
  name: "license",
  rules: [
    unreadable,
    reverts,
    nothingRequested,
    wrongType,
    alreadyRuns,
    rejected,
    outsideItsTime,
    unknownLicense,
    downgrade,
    failedLately,
    applyFile,
    start,
  ],
};
