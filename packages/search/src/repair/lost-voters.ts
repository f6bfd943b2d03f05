import type { Seen } from "../seen.ts";

/** Who voted when that was last known, and whose disk is gone since. */
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
