import { isPair, readCertificate } from "@quartermaster/runtime/certificates";

import type { TlsLayer } from "../../src/engine/engine-client.ts";
import { EngineError } from "../../src/engine/engine-error.ts";

/** What the fake engine knows of a pod: tests make it from the objects of the API server. */
export interface FakePod {
  /** Name of the pod, which is the name of its node. */
  readonly name: string;
  readonly uid: string;
  /** Where its data is: uid of the PersistentVolumeClaim, or of the pod itself with an emptyDir. */
  readonly volume: string;
  /** False: the process is not there, and calls get no connection. */
  readonly isRunning: boolean;
  /** In OpenSearch's words: `cluster_manager`, `data`, … */
  readonly roles: readonly string[];
  readonly version: string;
  readonly clusterName: string;
  /** The bootstrap list that the pod was born with; empty where there was none. */
  readonly initialManagers: readonly string[];
  /** Files for clients as they are mounted now; left out, the node serves without TLS. */
  readonly files?: FakeFiles;
  /** Files for other nodes (default: those for clients). */
  readonly transportFiles?: FakeFiles;
  /** Passwords of the file realm by user; left out, any login is accepted. */
  readonly accounts?: Readonly<Record<string, string>>;
}

/** Certificate, key and trusted CAs of a node. */
export interface FakeFiles {
  readonly certificatePem: string;
  readonly keyPem: string;
  readonly caPem: string;
}

/** A running process: one life of a pod. */
export class FakeNode {
  /** As the API server has it now. */
  pod: FakePod;
  readonly startedMs: number;
  /** Files as the process read them last. */
  served: FakeFiles | undefined;
  /** The same for other nodes. */
  shownToNodes: FakeFiles | undefined;
  /** A reload with a key of another certificate: every handshake fails until a restart. */
  isBricked = false;
  /** UUID of the cluster whose state it has applied in this life. What its disk knows is not shown by real engines either. */
  appliedUuid: string | undefined;

  constructor(pod: FakePod, startedMs: number) {
    this.pod = pod;
    this.startedMs = startedMs;
    this.served = pod.files;
    this.shownToNodes = this.filesOf("transport");
  }

  /** As they are mounted now. */
  filesOf(layer: TlsLayer): FakeFiles | undefined {
    const { files, transportFiles } = this.pod;
    return layer === "transport" ? (transportFiles ?? files) : files;
  }

  see(pod: FakePod): void {
    this.pod = pod;
  }

  apply(uuid: string): void {
    this.appliedUuid = uuid;
  }

  /** Reads its files again, as a real node does: a key of another certificate is taken, and is the end of it. */
  reload(layer: TlsLayer): void {
    const files = this.filesOf(layer);
    if (layer === "http") this.served = files;
    else this.shownToNodes = files;
    this.isBricked = files !== undefined && !isPair(files);
  }
}

/** Whether the node elects the manager. */
export function isManager({ pod }: FakeNode): boolean {
  return pod.roles.includes("cluster_manager");
}

/** Whether the node holds shards. */
export function isDataNode({ pod }: FakeNode): boolean {
  return pod.roles.some((role) => role === "data" || role.startsWith("data_"));
}

/** When the certificate ends that the node shows to other nodes. */
export function transportEndMs({ shownToNodes, pod }: FakeNode): number {
  const facts = readCertificate(shownToNodes?.certificatePem ?? "");
  if (facts !== undefined) return facts.validity.notAfterMs;
  throw new EngineError(`node ${pod.name}: it talks to nodes without TLS`, { code: "unreadable" });
}
