import type { Live } from "@quartermaster/runtime";
import type { ClusterObject } from "@quartermaster/search/offline";

import { isSearchReady, searchTitle } from "./search-status.ts";

export interface SearchExplanation {
  readonly summary: string;
  readonly waits: readonly SearchWait[];
}

/** One thing that is waited for. */
export interface SearchWait {
  readonly reason: string;
  readonly message: string;
  readonly next: string;
}

/** Explains a cluster from its object alone. */
export function explainSearch(object: Live<ClusterObject>): SearchExplanation {
  const { status, metadata } = object;
  const title = searchTitle(object);
  if (metadata.deletionTimestamp !== undefined)
    return { summary: `${title} is being deleted.`, waits: waitsOf(object) };
  if (status?.observedGeneration === undefined)
    return { summary: `${title} has not been looked at yet.`, waits: [unseen] };
  if (status.observedGeneration !== metadata.generation)
    return { summary: `The last edit of ${title} has not been looked at yet.`, waits: [unseen] };
  const waits = waitsOf(object);
  if (isSearchReady(object))
    return {
      summary: `${title} is as declared, health ${status.health ?? "unknown"}.`,
      waits: status.health === "yellow" ? [...waits, yellow] : waits,
    };
  return { summary: `${title} is not as declared.`, waits };
}

const unseen: SearchWait = {
  reason: "NotObserved",
  message: "No operator has judged this declaration.",
  next: "check that the operator runs, and that its flag --domains has search",
};

const yellow: SearchWait = {
  reason: "Yellow",
  message: "Some copies of shards have no place; every document is there.",
  next: "wait, add data nodes, or request fewer replicas of the indices",
};

/** Blockers say more than conditions: conditions only where there are none. */
function waitsOf({ status }: Live<ClusterObject>): readonly SearchWait[] {
  const blockers = (status?.blockers ?? []).map(({ reason, message, actor }) => ({
    reason,
    message,
    next: nextOf(reason, actor),
  }));
  if (blockers.length > 0) return blockers;
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  if (ready === undefined || ready.status === "True") return [];
  const { reason, message } = ready;
  return [{ reason, message, next: nextOf(reason, undefined) }];
}

function nextOf(reason: string, actor: string | undefined): string {
  return remedies[reason] ?? actors[actor ?? ""] ?? "see the message";
}

const actors: Readonly<Record<string, string>> = {
  operator: "the operator continues automatically",
  kubelet: "Kubernetes starts or ends pods; kubectl describe shows what a pod waits for",
  engine: "the engine continues automatically; see the logs of its pods",
  scheduler: "Kubernetes looks for a node; kubectl describe shows what a pod lacks",
  user: "you: the message says what to change",
};

/** Where a user has to do more than the message says. */
const remedies: Readonly<Record<string, string>> = {
  AwaitingMaterial: "you: create the Secrets that the spec names, or remove the references",
  DataFromAnotherCluster:
    "you: bring the right volumes back, or give the old data up with the annotation search.quartermaster.dev/accept-new-cluster",
  InvalidSpec: "you: correct the fields; qm search plan -f checks a file before you apply it",
  NameClash: "you: rename the cluster or the pool, or remove what has the name",
  DrainStalled: "you: query the engine's _cluster/allocation/explain why the named shards stay",
  OperationNotSupportedYet: "you: set back what the message names; all other changes are carried out",
  Paused: "you: set spec.operations.paused to false",
  QuorumLost: "you: see Quorum lost in docs/guides/troubleshooting.md",
  SecretConflict: "you: remove or rename the Secret that has the name",
};

/** The explanation for people. */
export function searchExplanationText({ summary, waits }: SearchExplanation): string {
  const lines = waits.flatMap(({ reason, message, next }) => [
    `  ${reason}: ${message}`,
    `    next: ${next}`,
  ]);
  return [summary, ...lines].join("\n");
}
