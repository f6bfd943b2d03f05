import type { JsonObject } from "@quartermaster/runtime";
import { type CertificateFacts, readCertificate } from "@quartermaster/runtime/certificates";

import type {
  EngineCall,
  EngineClient,
  EngineTarget,
  ExplainedCopy,
  FittedIndices,
  SecurityDocuments,
  SecurityDocumentType,
  SecurityEntityType,
  TlsLayer,
} from "../../src/engine/engine-client.ts";
import { EngineError } from "../../src/engine/engine-error.ts";
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
} from "../../src/engine/engine-facts.ts";
import { type DistributionFacts, distributionFacts } from "../../src/model/distribution-facts.ts";
import { FakeCalls } from "./fake-calls.ts";
import { fakeExplanation } from "./fake-explanation.ts";
import { type FakeNode, isDataNode, transportEndMs } from "./fake-pod.ts";
import { fakeSecurity } from "./fake-security.ts";

/** A client of the fake engine, with the same manners as the real one. */
export class FakeClient extends FakeCalls implements EngineClient {
  async identity(node: string): Promise<EngineIdentity> {
    return await this.one("identity", node, (found) => {
      const cluster = this.engine.appliedBy(found);
      const { name, version, clusterName } = found.pod;
      return {
        node: name,
        version,
        clusterName,
        clusterUuid: cluster?.uuid,
        hasVoters: cluster !== undefined,
      };
    });
  }

  async health(): Promise<EngineHealth> {
    return await this.any("health", (cluster) => {
      const members = this.engine.members(cluster);
      const dataNodes = members.filter(isDataNode).length;
      return { ...cluster.shards.health(), nodes: members.length, dataNodes, pendingTasks: 0 };
    });
  }

  async nodes(): Promise<readonly EngineNode[]> {
    return await this.any("nodes", (cluster) =>
      this.engine.members(cluster).map(({ pod }) => ({
        id: pod.volume,
        name: pod.name,
        version: pod.version,
        roles: pod.roles,
        isElected: pod.volume === cluster.elected,
      })),
    );
  }

  async shards(): Promise<readonly EngineShard[]> {
    return await this.any("shards", (cluster) => cluster.shards.rows((volume) => this.engine.nameOf(volume)));
  }

  async coordination(): Promise<Coordination> {
    return await this.any("coordination", (cluster) => {
      // Engines know the name of a member only: of a voter that is away there is its id.
      const members = new Map(this.engine.members(cluster).map(({ pod }) => [pod.volume, pod.name]));
      const { elected } = cluster;
      return {
        clusterUuid: cluster.uuid,
        voters: cluster.voters.map((volume) => members.get(volume) ?? volume),
        exclusions: [...cluster.exclusions],
        elected: elected === undefined ? undefined : (members.get(elected) ?? elected),
      };
    });
  }

  async settings(): Promise<EngineSettings> {
    return await this.any("settings", (cluster) => cluster.settings);
  }

  async nodeLoad(): Promise<readonly NodeLoad[]> {
    return await this.any("nodeLoad", (cluster) =>
      this.engine.members(cluster).map((node) => ({ ...cluster.loadOf(node), ...this.engine.load })),
    );
  }

  async indices(): Promise<readonly EngineIndex[]> {
    return await this.any("indices", ({ shards }) => shards.indexRows());
  }

  async explain(copy: ExplainedCopy): Promise<ShardExplanation> {
    return await this.any("explain", (cluster) => {
      const blocked = this.engine.blockedIndices;
      return fakeExplanation(copy, cluster, { engine: this.engine, blocked });
    });
  }

  async putSettings(changes: Partial<EngineSettings>): Promise<void> {
    await this.any("putSettings", (cluster) => {
      cluster.putSettings(changes);
      this.engine.step();
    });
  }

  async excludeVotes(nodes: readonly string[]): Promise<void> {
    await this.any("excludeVotes", (cluster) => {
      for (const node of nodes) cluster.exclusions.add(node);
      this.engine.step();
      const voters = cluster.voters.map((volume) => this.engine.nameOf(volume));
      if (nodes.some((node) => voters.includes(node)))
        throw new EngineError("excludeVotes: the node is still a voter", { code: "timeout" });
    });
  }

  async clearVoteExclusions(): Promise<void> {
    await this.any("clearVoteExclusions", (cluster) => {
      cluster.exclusions.clear();
      this.engine.step();
    });
  }

  async flush(): Promise<void> {
    await this.any("flush", () => undefined);
  }

  async fitReplicas({ pattern, indices }: FittedIndices): Promise<void> {
    await this.any("fitReplicas", ({ shards }) => {
      shards.fit(pattern, indices);
      this.engine.step();
    });
  }

  async repositories(): Promise<readonly EngineRepository[]> {
    return await this.any("repositories", ({ repositories }) => repositories.list());
  }

  async putRepository(repository: EngineRepository): Promise<void> {
    await this.any("putRepository", ({ repositories }) => {
      repositories.put(repository);
    });
  }

  async verifyRepository(name: string): Promise<void> {
    await this.any("verifyRepository", ({ repositories }) => {
      repositories.verify(name, this.engine.unusableRepositories);
    });
  }

  async deleteRepository(name: string): Promise<void> {
    await this.any("deleteRepository", ({ repositories }) => {
      repositories.delete(name);
    });
  }

  async servedCertificate(node: string): Promise<CertificateFacts> {
    return await this.around("servedCertificate", node, () => {
      const { served } = this.engine.node(node);
      const facts = served === undefined ? undefined : readCertificate(served.certificatePem);
      if (facts !== undefined) return facts;
      throw new EngineError(`node ${node}: it serves without TLS`, {
        code: "unsupported",
        mayHaveActed: false,
      });
    });
  }

  async transportCertificateEndMs(node: string): Promise<number> {
    this.#assertSecurity("transportCertificateEndMs");
    return await this.one("transportCertificateEndMs", node, transportEndMs);
  }

  async reloadCertificates(node: string, layer: TlsLayer): Promise<void> {
    await this.one("reloadCertificates", node, (found) => {
      this.#assertSecurity("reloadCertificates");
      const files = found.filesOf(layer);
      const facts = files === undefined ? undefined : readCertificate(files.certificatePem);
      if (facts === undefined || facts.validity.notAfterMs <= this.engine.options.system.wallMs())
        throw new EngineError("reloadCertificates: HTTP 500", { code: "invalid", status: 500 });
      found.reload(layer);
    });
  }

  async isServing(node: string): Promise<boolean> {
    return await this.one("isServing", node, (found) => this.#hasSecurity(found));
  }

  async hasSecurityIndex(): Promise<boolean> {
    this.#assertSecurity("hasSecurityIndex");
    return await this.any("hasSecurityIndex", ({ security }) => fakeSecurity.isComplete(security));
  }

  async initSecurity(documents: SecurityDocuments): Promise<readonly SecurityDocumentType[]> {
    this.#assertSecurity("initSecurity");
    return await this.any("initSecurity", (cluster) => {
      const { mostDocuments, options } = this.engine;
      const nowMs = options.system.monotonicMs();
      try {
        return fakeSecurity.init(cluster, documents, { nowMs, mostDocuments });
      } finally {
        this.engine.step();
      }
    });
  }

  async entities(type: SecurityEntityType): Promise<ReadonlyMap<string, JsonObject>> {
    this.#assertSecurity("entities");
    return await this.any("entities", (cluster) => fakeSecurity.entities(cluster, type));
  }

  async putEntity(type: SecurityEntityType, name: string, body: JsonObject): Promise<void> {
    this.#assertSecurity("putEntity");
    await this.any("putEntity", (cluster) => {
      fakeSecurity.put(cluster, { type, name }, body);
    });
  }

  async deleteEntity(type: SecurityEntityType, name: string): Promise<void> {
    this.#assertSecurity("deleteEntity");
    await this.any("deleteEntity", (cluster) => {
      fakeSecurity.delete(cluster, type, name);
    });
  }

  async license(): Promise<EngineLicense> {
    this.#assertLicense("license");
    return await this.any("license", ({ license }) => license.read(this.engine.options.system.wallMs()));
  }

  async putLicense(file: JsonObject, options: { readonly acknowledge: boolean }): Promise<LicenseResponse> {
    this.#assertLicense("putLicense");
    return await this.any("putLicense", ({ license }) =>
      license.put(file, options.acknowledge, this.engine.options.system.wallMs()),
    );
  }

  async startTrial({ acknowledge }: { readonly acknowledge: boolean }): Promise<LicenseResponse> {
    this.#assertLicense("startTrial");
    const { system } = this.engine.options;
    return await this.any("startTrial", ({ license }) =>
      license.startTrial(acknowledge, { uid: system.uuid(), nowMs: system.wallMs() }),
    );
  }

  async startBasic({ acknowledge }: { readonly acknowledge: boolean }): Promise<LicenseResponse> {
    this.#assertLicense("startBasic");
    const { system } = this.engine.options;
    return await this.any("startBasic", ({ license }) => license.startBasic(acknowledge, system.uuid()));
  }

  async close(): Promise<void> {
    await Promise.resolve();
  }

  /** A node serves some time after it could first read the whole security index. */
  #hasSecurity(node: FakeNode): boolean {
    if (!this.#facts.hasSecurityPlugin || node.served === undefined) return true;
    const securedMs = this.engine.appliedBy(node)?.securedMs;
    if (securedMs === undefined) return false;
    const { system, securityPollMs } = this.engine.options;
    return system.monotonicMs() >= Math.max(securedMs, node.startedMs) + securityPollMs;
  }

  get #facts(): DistributionFacts {
    return distributionFacts[this.target.distribution];
  }

  #assertSecurity(call: EngineCall): void {
    if (!this.#facts.hasSecurityPlugin) throw unsupported(call, this.target);
  }

  #assertLicense(call: EngineCall): void {
    if (!this.#facts.isLicensed) throw unsupported(call, this.target);
  }
}

function unsupported(call: EngineCall, { distribution }: EngineTarget): EngineError {
  return new EngineError(`${call}: ${distribution} has no such API`, {
    code: "unsupported",
    mayHaveActed: false,
  });
}
