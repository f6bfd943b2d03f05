import { X509Certificate } from "node:crypto";
import { TLSSocket } from "node:tls";

import type { JsonObject } from "@quartermaster/runtime";
import { type CertificateFacts, readCertificate } from "@quartermaster/runtime/certificates";

import type {
  ConnectEngine,
  EngineCall,
  EngineClient,
  EngineTarget,
  ExplainedCopy,
  FittedIndices,
  SecurityDocuments,
  SecurityEntityType,
  TlsLayer,
} from "../engine/engine-client.ts";
import { EngineError } from "../engine/engine-error.ts";
import type {
  Coordination,
  EngineHealth,
  EngineIdentity,
  EngineIndex,
  EngineLicense,
  EngineNode,
  EngineRepository,
  EngineSettings,
  EngineShard,
  LicenseResponse,
  NodeLoad,
  ShardExplanation,
} from "../engine/engine-facts.ts";
import { EngineWire, type WireOptions } from "../engine/engine-wire.ts";
import { explainRequest, readExplanation } from "../engine/explain-copies.ts";
import { openConnection } from "../engine/open-connection.ts";
import { readFacts } from "../engine/read-facts.ts";
import { assertAcknowledged, unreadable } from "../engine/read-response.ts";
import { type RepositoryApi, repositoryApi } from "../engine/repository-api.ts";
import { distributions } from "./distributions.ts";
import type { LicenseApi, RestDialect, SecurityApi } from "./rest-dialect.ts";

/** Makes clients that speak REST to real engines. */
export function restEngine(options: WireOptions): ConnectEngine {
  return (target) => new RestEngine(target, options);
}

interface WriteRequest {
  readonly path: string;
  readonly body?: object | undefined;
  /** The response has to say that every node has taken it. */
  readonly isAcknowledged?: boolean | undefined;
}

/** Reads wait so long for an elected manager before they say that there is none. */
const managerWait = "5s";

/** The engine's REST API: what all distributions share; the rest is their dialect's. */
class RestEngine implements EngineClient {
  readonly #target: EngineTarget;
  readonly #options: WireOptions;
  readonly #wire: EngineWire;
  readonly #dialect: RestDialect;
  readonly #repositories: RepositoryApi;

  constructor(target: EngineTarget, options: WireOptions) {
    this.#target = target;
    this.#options = options;
    this.#wire = new EngineWire(target, options);
    this.#dialect = distributions[target.distribution].rest(this.#wire, {
      isSecured: target.tls !== undefined || target.login !== undefined,
      system: options.system,
    });
    this.#repositories = repositoryApi(this.#wire, this.#timeout());
  }

  async identity(node: string): Promise<EngineIdentity> {
    const query = async (path: string): Promise<unknown> => {
      const { value } = await this.#wire.one(node, { call: "identity", method: "GET", path });
      return value;
    };
    const fields = "_nodes,cluster_name,nodes.*.name,nodes.*.version,nodes.*.roles";
    const info = await query(`/_nodes/_local/http?filter_path=${fields}`);
    const coordination = "cluster_name,cluster_uuid,metadata.cluster_coordination";
    const state = await query(`/_cluster/state/metadata?local=true&filter_path=${coordination}`);
    return readFacts.identity(info, state);
  }

  async health(): Promise<EngineHealth> {
    return readFacts.health(await this.#read("health", `/_cluster/health?${this.#timeout()}`));
  }

  async nodes(): Promise<readonly EngineNode[]> {
    const fields = "_nodes,cluster_name,nodes.*.name,nodes.*.version,nodes.*.roles";
    const info = await this.#read("nodes", `/_nodes/http?timeout=10s&filter_path=${fields}`);
    const { managerMetric } = this.#dialect;
    const state = await this.#read("nodes", `/_cluster/state/${managerMetric}?${this.#timeout()}`);
    return readFacts.nodes(info, state);
  }

  async shards(): Promise<readonly EngineShard[]> {
    const copy = ["index", "shard", "primary", "state", "node", "relocating_node"];
    const fields = copy.map((field) => `routing_table.indices.*.shards.*.${field}`);
    const path = `/_cluster/state/routing_table,nodes?${this.#timeout()}`;
    return readFacts.shards(
      await this.#read("shards", `${path}&filter_path=nodes.*.name,${fields.join(",")}`),
    );
  }

  async coordination(): Promise<Coordination> {
    const { managerMetric } = this.#dialect;
    const fields = `cluster_name,cluster_uuid,${managerMetric},nodes.*.name,metadata.cluster_coordination`;
    const path = `/_cluster/state/metadata,nodes,${managerMetric}?${this.#timeout()}`;
    return readFacts.coordination(await this.#read("coordination", `${path}&filter_path=${fields}`));
  }

  async settings(): Promise<EngineSettings> {
    return readFacts.settings(
      await this.#read("settings", `/_cluster/settings?flat_settings=true&${this.#timeout()}`),
    );
  }

  async nodeLoad(): Promise<readonly NodeLoad[]> {
    const metrics = ["name", "indices", "fs.total", "jvm.mem.heap_used_percent", "process.cpu.percent"];
    const threads = ["thread_pool.search.queue", "thread_pool.write.rejected"];
    const fields = ["_nodes", ...[...metrics, ...threads].map((field) => `nodes.*.${field}`)].join(",");
    const path = "/_nodes/stats/indices,fs,jvm,process,thread_pool/docs,store?level=shards&timeout=10s";
    return readFacts.nodeLoad(await this.#read("nodeLoad", `${path}&filter_path=${fields}`));
  }

  async indices(): Promise<readonly EngineIndex[]> {
    const copies = ["number_of_replicas", "auto_expand_replicas"];
    const fields = copies.map((field) => `*.settings.index.${field}`).join(",");
    const path = `/_all/_settings/index.number_of_replicas,index.auto_expand_replicas?expand_wildcards=all&${this.#timeout()}`;
    return readFacts.indices(await this.#read("indices", `${path}&filter_path=${fields}`));
  }

  async explain(copy: ExplainedCopy): Promise<ShardExplanation> {
    const request = { path: "/_cluster/allocation/explain", body: explainRequest(copy) };
    return readExplanation(copy, await this.#write("explain", "POST", request));
  }

  async putSettings(changes: Partial<EngineSettings>): Promise<void> {
    const { persistent = {}, transient = {} } = changes;
    const path = `/_cluster/settings?${this.#timeout()}`;
    await this.#write("putSettings", "PUT", { path, body: { persistent, transient }, isAcknowledged: true });
  }

  async excludeVotes(nodes: readonly string[]): Promise<void> {
    if (nodes.length === 0) return;
    const names = nodes.map((node) => encodeURIComponent(node)).join(",");
    const path = `/_cluster/voting_config_exclusions?node_names=${names}&timeout=20s`;
    await this.#write("excludeVotes", "POST", { path });
  }

  async clearVoteExclusions(): Promise<void> {
    const path = "/_cluster/voting_config_exclusions?wait_for_removal=false";
    await this.#write("clearVoteExclusions", "DELETE", { path });
  }

  async flush(): Promise<void> {
    await this.#write("flush", "POST", { path: "/_flush" });
  }

  async fitReplicas({ template, pattern, indices }: FittedIndices): Promise<void> {
    const call = "fitReplicas";
    const settings = { "index.auto_expand_replicas": "0-1" };
    const body = { index_patterns: [pattern], template: { settings } };
    const templatePath = `/_index_template/${encodeURIComponent(template)}`;
    await this.#write(call, "PUT", { path: templatePath, body, isAcknowledged: true });
    if (indices.length === 0) return;
    const names = indices.map((name) => encodeURIComponent(name)).join(",");
    const path = `/${names}/_settings?ignore_unavailable=true&${this.#timeout()}`;
    await this.#write(call, "PUT", { path, body: settings, isAcknowledged: true });
  }

  async repositories(): Promise<readonly EngineRepository[]> {
    return await this.#repositories.list();
  }

  async putRepository(repository: EngineRepository): Promise<void> {
    await this.#repositories.put(repository);
  }

  async verifyRepository(name: string): Promise<void> {
    await this.#repositories.verify(name);
  }

  async deleteRepository(name: string): Promise<void> {
    await this.#repositories.delete(name);
  }

  async servedCertificate(node: string): Promise<CertificateFacts> {
    const endpoint = this.#wire.endpoint(node);
    const { tls } = this.#target;
    if (tls === undefined)
      throw new EngineError(`node ${node}: it serves without TLS`, {
        code: "unsupported",
        mayHaveActed: false,
      });
    const peer = { seen: "any", serverName: tls.serverName } as const;
    const socket = await openConnection(endpoint, peer, this.#options);
    try {
      const raw = socket instanceof TLSSocket ? socket.getPeerX509Certificate()?.raw : undefined;
      const facts = raw === undefined ? undefined : readCertificate(new X509Certificate(raw).toString());
      if (facts === undefined) throw unreadable(`node ${node}`, "its certificate cannot be read");
      return facts;
    } finally {
      socket.destroy();
    }
  }

  async transportCertificateEndMs(node: string): Promise<number> {
    return await this.#security("transportCertificateEndMs").transportEndMs(node);
  }

  async reloadCertificates(node: string, layer: TlsLayer): Promise<void> {
    await this.#security("reloadCertificates").reload(node, layer);
  }

  async isServing(node: string): Promise<boolean> {
    return await this.#dialect.isServing(node);
  }

  async hasSecurityIndex(): Promise<boolean> {
    return await this.#security("hasSecurityIndex").hasIndex();
  }

  async initSecurity(documents: SecurityDocuments): Promise<readonly (keyof SecurityDocuments)[]> {
    return await this.#security("initSecurity").init(documents);
  }

  async entities(type: SecurityEntityType): Promise<ReadonlyMap<string, JsonObject>> {
    return await this.#security("entities").list(type);
  }

  async putEntity(type: SecurityEntityType, name: string, body: JsonObject): Promise<void> {
    await this.#security("putEntity").put(type, name, body);
  }

  async deleteEntity(type: SecurityEntityType, name: string): Promise<void> {
    await this.#security("deleteEntity").delete(type, name);
  }

  async license(): Promise<EngineLicense> {
    return await this.#license("license").read();
  }

  async putLicense(
    license: JsonObject,
    options: { readonly acknowledge: boolean },
  ): Promise<LicenseResponse> {
    return await this.#license("putLicense").put(license, options.acknowledge);
  }

  async startTrial(options: { readonly acknowledge: boolean }): Promise<LicenseResponse> {
    return await this.#license("startTrial").start("trial", options.acknowledge);
  }

  async startBasic(options: { readonly acknowledge: boolean }): Promise<LicenseResponse> {
    return await this.#license("startBasic").start("basic", options.acknowledge);
  }

  async close(): Promise<void> {
    await this.#wire.close();
  }

  async #read(call: EngineCall, path: string): Promise<unknown> {
    const { value } = await this.#wire.any({ call, method: "GET", path });
    return value;
  }

  async #write(
    call: EngineCall,
    method: "PUT" | "POST" | "DELETE",
    { isAcknowledged = false, ...request }: WriteRequest,
  ): Promise<unknown> {
    const { value } = await this.#wire.any({ call, method, ...request });
    if (isAcknowledged) assertAcknowledged(call, value);
    return value;
  }

  #timeout(): string {
    return `${this.#dialect.managerTimeout}=${managerWait}`;
  }

  #security(call: EngineCall): SecurityApi {
    return this.#dialect.security ?? this.#unsupported(call);
  }

  #license(call: EngineCall): LicenseApi {
    return this.#dialect.license ?? this.#unsupported(call);
  }

  #unsupported(call: EngineCall): never {
    throw new EngineError(`${call}: ${this.#target.distribution} has no such API`, {
      code: "unsupported",
      mayHaveActed: false,
    });
  }
}
