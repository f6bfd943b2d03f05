import { type LaneRule, refuses } from "../lane.ts";
import { searchReasons } from "../reasons.ts";
import type { Seen } from "../seen.ts";

/** Maximum time without a manager before a cluster's disks are compared. */
const quorumTimeoutMs = 5 * 60_000;

/** Most managers have lost their disks: no operation may begin, and only the user can help. */
export const quorumLost: LaneRule = {
  name: "quorumLost",
  decide: (seen, now) => {
    const { engine, status } = seen;
    if (engine.coordination.isKnown) return undefined;
    const { voters, lost } = lostVoters(seen);
    if (lost.length * 2 < voters.length || lost.length === 0) return undefined;
    const since = status.conditions?.find(({ type }) => type === "Available");
    const isSure =
      since?.status === "False" && now.getTime() - Date.parse(since.lastTransitionTime) >= quorumTimeoutMs;
    if (!isSure) return undefined;
    return refuses(
      searchReasons.quorumLost,
      `The disks of ${String(lost.length)} of ${String(voters.length)} voting managers are lost (${lost.join(", ")}), and without a majority no manager is elected. Nothing is written: see "Quorum lost" in the troubleshooting guide.`,
    );
  },
};

/** Who voted when that was last known, and whose disk no longer exists since. */
export interface LostVoters {
  readonly voters: readonly string[];
  readonly lost: readonly string[];
}

/** Compares the uids in the status, which are those of the last time that the voters were known, with what is there now. */
export function lostVoters({ status, pods, volumes }: Pick<Seen, "status" | "pods" | "volumes">): LostVoters {
  const voters = (status.nodes ?? []).filter(({ voter }) => voter === true);
  const lost = voters.filter(({ name, podUid, pvcUid }) =>
    pvcUid === undefined
      ? pods.find((pod) => pod.name === name)?.uid !== podUid
      : volumes.find(({ node }) => node === name)?.uid !== pvcUid,
  );
  return { voters: voters.map(({ name }) => name), lost: lost.map(({ name }) => name) };
}
