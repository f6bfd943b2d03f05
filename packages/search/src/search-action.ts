import type { Desired, JsonObject, Kind, KubeObject, ReconcileEvent } from "@quartermaster/runtime";
import type { CertifiedKey, Subject } from "@quartermaster/runtime/certificates";

import type { SecurityDocuments, SecurityEntityType, TlsLayer } from "./engine/engine-client.ts";
import type { RevertedLicense } from "./license/lost-license.ts";
import type { SearchCluster } from "./model/search-cluster.ts";
import { labelsOf } from "./owner-labels.ts";
import type { WantedEntity } from "./security-content/wanted-content.ts";
import type { CertificateName } from "./seen.ts";

/** One write, as plain data. */
export type SearchAction =
  /** An object that the cluster owns: made, or brought back to what is declared. */
  | { readonly kind: "apply"; readonly resource: Kind; readonly object: Desired<KubeObject> }
  /** A Secret that outlives the cluster; never overwritten. */
  | {
      readonly kind: "keepPassword";
      readonly name: string;
      readonly username: string;
      /** Further keys with random content. */
      readonly alsoRandom?: readonly string[];
    }
  | { readonly kind: "keepCa"; readonly name: string }
  | { readonly kind: "takeOverSecret"; readonly name: string; readonly uid: string }
  | CertificateOrder
  /** Makes a node read its certificates again; the next sample reads what it serves then. */
  | { readonly kind: "reloadCertificates"; readonly node: string; readonly layers: readonly TlsLayer[] }
  | {
      readonly kind: "annotateVolume";
      readonly name: string;
      readonly uid: string;
      readonly annotations: JsonObject;
    }
  /** Copies labels of the machine onto a pod that runs there. */
  | { readonly kind: "annotatePod"; readonly name: string; readonly uid: string; readonly machine: string }
  | { readonly kind: "initSecurity"; readonly documents: SecurityDocuments }
  /** Each on its own: one that the engine refuses keeps none of the others back. */
  | { readonly kind: "putEntities"; readonly entities: readonly WantedEntity[] }
  | {
      readonly kind: "hashPassword";
      readonly username: string;
      readonly password: string;
      readonly from: string;
    }
  /** Once per cluster: what the author sets afterwards stays. */
  | { readonly kind: "fitAuditIndex" }
  | { readonly kind: "deleteEntity"; readonly type: SecurityEntityType; readonly name: string }
  | {
      readonly kind: "delete";
      readonly resource: Kind;
      readonly name: string;
      readonly uid: string;
      readonly resourceVersion?: string | undefined;
    }
  /** Deletes an object of ours that the spec no longer requests; only as long as it is the spec of that generation. */
  | {
      readonly kind: "prune";
      readonly resource: Kind;
      readonly name: string;
      readonly uid: string;
      readonly resourceVersion: string;
      readonly generation: number;
    }
  /** Has the API server refuse to delete a claim or Secret, or lets it be deleted again. */
  | {
      readonly kind: "protect";
      readonly resource: Kind;
      readonly name: string;
      readonly uid: string;
      readonly isProtected: boolean;
    }
  /** Makes an object of the predecessor, `from` by uid, this cluster's. */
  | {
      readonly kind: "inherit";
      readonly resource: Kind;
      readonly name: string;
      readonly uid: string;
      readonly from: string;
    }
  /** Removes our labels from an object that outlives the cluster. */
  | { readonly kind: "release"; readonly resource: Kind; readonly name: string; readonly uid: string }
  | {
      readonly kind: "putLicense";
      readonly uid: string;
      readonly digest: string;
      readonly file: JsonObject;
      readonly startMs: number;
      /** The engine is queried without acknowledgement first, because its warnings are to be seen. */
      readonly warnsFirst: boolean;
    }
  | {
      readonly kind: "startLicense";
      readonly type: "trial" | "basic";
      readonly digest: string;
      /** The license that it takes the place of, where no one requested the type itself. */
      readonly from?: RevertedLicense;
    }
  /** Requests a larger volume; never for a smaller one. */
  | {
      readonly kind: "growClaim";
      readonly pool: string;
      readonly name: string;
      readonly uid: string;
      readonly size: string;
    }
  /** Snapshot repositories by name; each is decided again on live reads. */
  | {
      readonly kind: "keepRepositories";
      readonly put: readonly string[];
      readonly verify: readonly string[];
      readonly drop: readonly string[];
    }
  /** Dynamic settings by name; each is decided again on live reads. */
  | { readonly kind: "keepSettings"; readonly put: readonly string[]; readonly drop: readonly string[] }
  | OperationAction
  | { readonly kind: "record"; readonly event: ReconcileEvent };

/** The action of a kind. */
export type ActionOf<Name extends SearchAction["kind"]> = Extract<SearchAction, { readonly kind: Name }>;

/** Actions of an operation on the engine and on the cluster. Those that take something away are decided again on live reads. */
export type OperationAction =
  | { readonly kind: "freezeAllocation"; readonly operation: string }
  | { readonly kind: "excludeNode"; readonly node: string }
  /** Takes everything of ours out of the engine's settings. */
  | { readonly kind: "releaseAllocation" }
  | { readonly kind: "excludeVote"; readonly node: string }
  /** The engine clears all or none: only if all are ours. */
  | { readonly kind: "clearVotes"; readonly ours: readonly string[] }
  /** Reads live that nothing of an operation is left in the engine; fails, and removes it, if there is. */
  | { readonly kind: "verifyReleased"; readonly node: string }
  /** Reads live that the StatefulSet still has the place of a node; fails if it has not. */
  | { readonly kind: "verifySlot"; readonly pool: string; readonly ordinal: number }
  | DestructiveAction;

/** Never done upon what the stores say alone: `confirm` decides once more, on live reads. */
export type DestructiveAction =
  | {
      readonly kind: "deletePod";
      /** Left out: the pod is broken, and no node goes away with it. */
      readonly operation?: string;
      readonly node: string;
      readonly uid: string;
    }
  /** Takes the place of the last node of a pool away. */
  | {
      readonly kind: "shrinkPool";
      readonly operation: string;
      readonly pool: string;
      readonly uid: string;
      /** Places that are left: the ordinal of the node that goes, or fewer where empty places lie below it. */
      readonly to: number;
      readonly podUid: string;
    }
  | {
      readonly kind: "deleteClaim";
      readonly operation: string;
      readonly node: string;
      readonly name: string;
      readonly uid: string;
    }
  /** A pool without nodes: its StatefulSet, Service and configuration. */
  | {
      readonly kind: "deletePool";
      readonly pool: string;
      readonly uid: string;
      readonly statefulSet: string;
      readonly service: string;
      readonly config: string;
    };

/** A certificate to be issued into a Secret that the cluster owns. */
export interface CertificateOrder {
  readonly kind: "issueCertificate";
  readonly certificate: CertificateName;
  readonly secretName: string;
  readonly ca: CertifiedKey;
  /** Whom the holder trusts; becomes `ca.crt`. */
  readonly trustPem: string;
  readonly subject: Subject;
  readonly dnsNames: readonly string[];
  readonly usages: readonly ("server" | "client")[];
  readonly durationMs: number;
  /** The author's request to renew certificates; undefined if there is none. */
  readonly requested: string | undefined;
}

/** Makes an object of the cluster, or brings it back; with our labels besides its own. */
export function applyAction<O extends KubeObject>(
  kind: Kind<O>,
  { apiVersion: _apiVersion, kind: _kind, metadata, ...content }: O,
  cluster: Pick<SearchCluster, "name" | "uid" | "common">,
): SearchAction {
  const { name, labels } = metadata;
  const annotations = { ...cluster.common?.annotations, ...metadata.annotations };
  return {
    kind: "apply",
    resource: kind,
    object: {
      metadata: {
        name,
        labels: { ...cluster.common?.labels, ...labels, ...labelsOf(cluster) },
        ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
      },
      ...content,
    },
  };
}
