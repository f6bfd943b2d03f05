import { X509Certificate } from "node:crypto";
import { TLSSocket } from "node:tls";

import { readCertificate } from "@quartermaster/runtime/certificates";

import type { EngineCall, EngineTarget } from "../engine/engine-client.ts";
import type { EngineWire, WireOptions } from "../engine/engine-wire.ts";
import { openConnection } from "../engine/open-connection.ts";
import { unreadable } from "../engine/read-response.ts";
import {
  allocationSamples,
  healthSamples,
  settingSamples,
  snapshotSamples,
  voterSamples,
  writableRepositories,
} from "./cluster-series.ts";
import { nodeSamples } from "./node-series.ts";
import { type Sample, sampleOf, type SeriesSpec } from "./sample.ts";

/** A query to an engine of its own: where it fails, the others are still shown. */
export interface EnginePart {
  readonly part: string;
  /** How long a response is good for. */
  readonly everyMs: number;
  /** Some engines' roles do not cover it: a refusal is shown as a part that could not be read, and is not requested again immediately. */
  readonly isOptional?: boolean | undefined;
  readonly read: (
    wire: EngineWire,
    target: EngineTarget,
    options: Pick<WireOptions, "system" | "dial">,
  ) => Promise<readonly Sample[]>;
}

/** When the certificate that was served ends. */
export const certificateSeries: SeriesSpec = {
  name: "quartermaster_search_certificate_expiry_timestamp_seconds",
  help: "When the certificate that the engine serves to clients ends",
};

const minuteMs = 60_000;

const coordinationPath =
  "/_cluster/state/metadata,nodes?filter_path=metadata.cluster_coordination.last_committed_config,nodes.*.name";
/** Not as flat settings: names with dots cannot be filtered. */
const settingsPath = `/_cluster/settings?include_defaults=true&filter_path=${[
  "*.cluster.routing.allocation.disk.watermark",
  "*.cluster.max_shards_per_node",
].join(",")}`;

/** Parts of a node's statistics that metrics are made of. Others, e.g. of each transport action, are not sent. */
const statisticFields = [
  "name",
  "roles",
  "indices",
  "jvm",
  "os",
  "process",
  "fs.total",
  "thread_pool",
  "breakers",
  "http.current_open",
  "transport.rx_size_in_bytes",
  "transport.tx_size_in_bytes",
];
const statisticsPath = `/_nodes/stats/indices,jvm,os,process,fs,thread_pool,breaker,http,transport/docs,store,indexing,get,search,merge,refresh,flush,segments,fielddata?timeout=5s&filter_path=${statisticFields
  .map((field) => `nodes.*.${field}`)
  .join(",")}`;

/** Everything that the exporter reads. All are reads, as one user that cannot write. */
export const engineParts: readonly EnginePart[] = [
  { part: "health", everyMs: 0, read: reading("health", "/_cluster/health", healthSamples) },
  { part: "nodes", everyMs: 0, read: reading("nodeLoad", statisticsPath, nodeSamples) },
  {
    part: "shards",
    everyMs: 0,
    read: reading("shards", "/_cat/allocation?format=json&h=node,shards", allocationSamples),
  },
  { part: "voters", everyMs: 0, read: reading("coordination", coordinationPath, voterSamples) },
  { part: "settings", everyMs: minuteMs, read: reading("settings", settingsPath, settingSamples) },
  { part: "certificate", everyMs: 5 * minuteMs, read: readServedCertificate },
  { part: "snapshots", everyMs: 5 * minuteMs, isOptional: true, read: readSnapshots },
];

function reading(
  call: EngineCall,
  path: string,
  samplesIn: (value: unknown) => readonly Sample[],
): EnginePart["read"] {
  return async (wire) => {
    const { value } = await wire.any({ call, method: "GET", path });
    return samplesIn(value);
  };
}

/** One repository after the other: listing snapshots reads the repository itself. */
async function readSnapshots(wire: EngineWire): Promise<readonly Sample[]> {
  const request = async (path: string): Promise<unknown> =>
    (await wire.any({ call: "indices", method: "GET", path })).value;
  const samples: Sample[] = [];
  for (const repository of writableRepositories((await request("/_snapshot")) ?? {})) {
    const fields = "filter_path=snapshots.state,snapshots.end_time_in_millis";
    const response = await request(`/_snapshot/${encodeURIComponent(repository)}/_all?${fields}`);
    samples.push(...snapshotSamples(repository, response));
  }
  return samples;
}

/** The certificate of any node that responds: all nodes of a cluster have the same. */
async function readServedCertificate(
  _wire: EngineWire,
  { endpoints, tls }: EngineTarget,
  { system, dial }: Pick<WireOptions, "system" | "dial">,
): Promise<readonly Sample[]> {
  const [endpoint] = endpoints;
  if (tls === undefined || endpoint === undefined) return [];
  const socket = await openConnection(endpoint, tls, { system, dial });
  try {
    const raw = socket instanceof TLSSocket ? socket.getPeerX509Certificate()?.raw : undefined;
    const facts = raw === undefined ? undefined : readCertificate(new X509Certificate(raw).toString());
    if (facts === undefined) throw unreadable("certificate", "it cannot be read");
    return sampleOf(certificateSeries.name, facts.validity.notAfterMs / 1000, { layer: "http" });
  } finally {
    socket.destroy();
  }
}
