import type { EngineCall, EngineTarget } from "../../src/engine/engine-client.ts";
import { EngineError, mostTelling, noPod } from "../../src/engine/engine-error.ts";
import type { FakeCluster } from "./fake-cluster.ts";
import type { FakeEngine } from "./fake-engine.ts";
import { fakeHandshake } from "./fake-handshake.ts";
import type { FakeNode } from "./fake-pod.ts";

/** How calls reach the nodes of a fake engine: whom they ask, and what goes wrong on the way. */
export class FakeCalls {
  protected readonly engine: FakeEngine;
  protected readonly target: EngineTarget;

  constructor(engine: FakeEngine, target: EngineTarget) {
    this.engine = engine;
    this.target = target;
  }

  /** As the real client: the nodes in turn until one has a cluster with a manager. */
  protected async any<T>(call: EngineCall, work: (cluster: FakeCluster) => T): Promise<T> {
    return await this.around(call, undefined, () => {
      const failures: EngineError[] = [];
      for (const { node } of this.target.endpoints) {
        try {
          return work(this.engine.clusterOf(this.reach(node)));
        } catch (error) {
          if (!(error instanceof EngineError) || !nodeProblems.has(error.code)) throw error;
          failures.push(error);
        }
      }
      throw mostTelling(failures) ?? noPod(call);
    });
  }

  protected async one<T>(call: EngineCall, node: string, work: (node: FakeNode) => T): Promise<T> {
    return await this.around(call, node, () => work(this.reach(node)));
  }

  protected async around<T>(
    call: EngineCall | "servedCertificate",
    node: string | undefined,
    work: () => T,
  ): Promise<T> {
    const { system, onCall } = this.engine.options;
    onCall?.(call, node);
    this.engine.step();
    return await this.engine.faults.around(call, work, system);
  }

  protected reach(name: string): FakeNode {
    const node = this.engine.node(name);
    fakeHandshake(node, this.target, this.engine.options.system.wallMs());
    return node;
  }
}

const nodeProblems = new Set(["unreachable", "untrusted", "unavailable"]);
