import type { EngineFacts } from "../engine/engine-facts.ts";
import { searchReasons } from "../reasons.ts";
import type { VolumeFacts } from "./volume-facts.ts";

export interface BootstrapFacts {
  /** Names of the nodes that are declared to be managers. */
  readonly managers: readonly string[];
  readonly volumes: readonly VolumeFacts[];
  /** The UUID that the author gives up; `unknown` for volumes without one. */
  readonly acceptNewCluster: string | undefined;
}

/** How a cluster starts. */
export type BootstrapDecision =
  /** A new cluster. */
  | { readonly mode: "Found"; readonly acceptedNewCluster?: string }
  /**
   * The cluster on these volumes comes back. With `mayFound` none of them is known to hold one and they are exactly the volumes of all
   * declared managers, so an earlier start may have been cut short: the same nodes may found it after all. Nodes that did form
   * a cluster ignore the list, and never vote for one that did not.
   */
  | { readonly mode: "Recover"; readonly mayFound: boolean }
  | { readonly mode: "Refuse"; readonly reason: string; readonly message: string };

/** Shown for volumes without a UUID. */
const UNKNOWN_UUID = "unknown";

/**
 * Decides once, before the first pod, whether a cluster is founded or comes back from its volumes. A second cluster beside an old one
 * is the accident to prevent: whatever is not clearly one or the other is refused.
 */
export function decideBootstrap(facts: BootstrapFacts): BootstrapDecision {
  const { volumes, acceptNewCluster } = facts;
  if (volumes.length === 0) return { mode: "Found" };
  const uuids = [...new Set(volumes.flatMap(({ engineUuid }) => engineUuid ?? []))].toSorted();
  const given = uuids.length === 0 ? UNKNOWN_UUID : uuids.join(",");
  if (acceptNewCluster === given) return { mode: "Found", acceptedNewCluster: given };
  if (uuids.length > 1) return refuseForeign(volumes, given, "volumes of several clusters are here");
  const managerVolumes = volumes.filter(({ holdsManager }) => holdsManager);
  if (managerVolumes.length === 0)
    return refuseForeign(volumes, given, "volumes with data are here, but none of a manager");
  return recover(facts, managerVolumes, given);
}

function recover(
  { managers, volumes }: BootstrapFacts,
  managerVolumes: readonly VolumeFacts[],
  given: string,
): BootstrapDecision {
  const known = managerVolumes.filter(({ engineUuid }) => engineUuid !== undefined);
  const total = Math.max(managers.length, managerVolumes.length);
  const all = known.length === 0 ? total : Math.max(...known.map((volume) => volume.managers ?? total));
  // Volumes are labeled one by one: one without a label may well belong to the same cluster, and recovering founds nothing.
  const present = managerVolumes.filter(({ node }) => managers.includes(node));
  const majority = Math.floor(all / 2) + 1;
  if (present.length < majority)
    return {
      mode: "Refuse",
      reason: searchReasons.quorumVolumesMissing,
      message: `${String(present.length)} of ${String(all)} volumes of managers are here (${namesOf(present)}), ${String(majority)} are needed to bring the cluster back. Restore the others; or set the annotation search.quartermaster.dev/accept-new-cluster to ${given} to found a new cluster, which cannot read the old data.`,
    };
  const isExact =
    managerVolumes.length === managers.length && managers.every((name) => isVolumeOf(managerVolumes, name));
  return { mode: "Recover", mayFound: volumes.every((volume) => volume.engineUuid === undefined) && isExact };
}

function isVolumeOf(volumes: readonly VolumeFacts[], node: string): boolean {
  return volumes.some((volume) => volume.node === node);
}

function refuseForeign(volumes: readonly VolumeFacts[], given: string, what: string): BootstrapDecision {
  const table = volumes
    .slice(0, 10)
    .map(({ name, engineUuid = UNKNOWN_UUID }) => `${name}: ${engineUuid}`)
    .join(", ");
  return {
    mode: "Refuse",
    reason: searchReasons.dataFromAnotherCluster,
    message: `${what} (${table}). Restore the volumes of the managers, or remove these claims; or set the annotation search.quartermaster.dev/accept-new-cluster to ${given} to found a new cluster, which these volumes cannot join.`,
  };
}

function namesOf(volumes: readonly VolumeFacts[]): string {
  return volumes.map(({ name }) => name).join(", ") || "none";
}

/** The UUID that each node reports; nodes that did not respond, or know none, are left out. */
export function uuidsReported({ identities }: EngineFacts): ReadonlyMap<string, string> {
  return new Map(
    [...identities].flatMap(([node, fact]) => {
      const uuid = fact.isKnown && fact.value.hasVoters ? fact.value.clusterUuid : undefined;
      return uuid === undefined ? [] : [[node, uuid]];
    }),
  );
}

/** The one UUID that a majority of these nodes report; undefined while there is none. */
export function commonUuid(engine: EngineFacts, nodes: readonly string[]): string | undefined {
  const reported = uuidsReported(engine);
  const uuids = nodes.flatMap((node) => reported.get(node) ?? []);
  const [uuid] = uuids;
  const isMajority = uuids.length > nodes.length / 2 && uuids.every((each) => each === uuid);
  return isMajority ? uuid : undefined;
}
