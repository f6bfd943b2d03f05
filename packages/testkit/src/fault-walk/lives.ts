import type { InjectedFault } from "../fault-proxy/fault-plan.ts";
import { type FaultProxy, startFaultProxy, type TraceEntry } from "../fault-proxy/fault-proxy.ts";
import type { Fault } from "../fault-proxy/fault.ts";
import type { Preconditions } from "../fault-proxy/preconditions.ts";
import type { RequestMatch } from "../fault-proxy/seen-request.ts";
import { crashesOf, type DisturbanceId, errors, interleave, type Interleaved } from "./disturbance.ts";
import { harmOfWrite } from "./harm.ts";
import type { WorkloadRun } from "./workload.ts";
import { atWritePoint, type WritePoint, writePointKey } from "./write-point.ts";

/** A fault at one write of one run; as JSON it repeats the run. */
export interface FaultPlan {
  readonly workload: string;
  readonly disturbance: DisturbanceId;
  readonly point: WritePoint;
  /** Takes the precondition away that the disturbance is guarded by: the uid for I5, else the resourceVersion (default: false). */
  readonly isUnconditional?: boolean | undefined;
}

/** The lives of an operator during one run: each has a proxy of its own, and a crash begins the next one. */
export class Lives implements AsyncDisposable {
  readonly #run: WorkloadRun;
  readonly #plan: FaultPlan | undefined;
  readonly #ended: TraceEntry[] = [];
  #crashes: ReturnType<typeof crashesOf>;
  #proxy: FaultProxy | undefined;
  #next: Promise<void> = Promise.resolve();
  #count = 0;
  #injected: InjectedFault | undefined;
  #interleaved: Interleaved | undefined;
  #harm: string | undefined;

  constructor(run: WorkloadRun, plan: FaultPlan | undefined) {
    this.#run = run;
    this.#plan = plan;
    this.#crashes = plan === undefined ? [] : crashesOf(plan.disturbance);
  }

  /** All requests of all lives. */
  get trace(): readonly TraceEntry[] {
    return [...this.#ended, ...(this.#proxy?.trace ?? [])];
  }

  get count(): number {
    return this.#count;
  }

  /** Whether the fault of the plan was done at least once. */
  get hasStruck(): boolean {
    return this.#count > 1 || (this.#injected?.hits ?? 0) > 0;
  }

  /** What the other client did; undefined for other faults and before it acted. */
  get interleaved(): Interleaved | undefined {
    return this.#interleaved;
  }

  /** Harm that the write of the plan did to the object of another client. */
  get harm(): string | undefined {
    return this.#harm;
  }

  /** Starts the next life; for the first one, the caller waits until it serves. */
  async begin(): Promise<void> {
    const proxy = await startFaultProxy({ upstream: this.#run.operator });
    this.#proxy = proxy;
    this.#count += 1;
    const fault = this.#fault();
    this.#injected = fault === undefined ? undefined : proxy.inject(this.#match(), fault);
    await this.#run.operate({ ...proxy.access, token: this.#run.operator.token });
  }

  /** Resolves when no crash is being recovered from. */
  async settled(): Promise<void> {
    await this.#next;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#next;
    await this.#end();
  }

  async #end(): Promise<void> {
    const proxy = this.#proxy;
    this.#proxy = undefined;
    if (proxy === undefined) return;
    // Nothing of this life reaches the server any more.
    await proxy[Symbol.asyncDispose]();
    this.#ended.push(...proxy.trace);
    await this.#run.stop();
  }

  /** The first life meets the write of the plan; later ones their first write, for C7 the same write again. */
  #match(): RequestMatch {
    const { aliases } = this.#run;
    const plan = this.#plan;
    if (plan === undefined) return () => false;
    if (this.#count === 1) return atWritePoint(plan.point, aliases);
    if (plan.disturbance === "C7") return atWritePoint({ key: plan.point.key, occurrence: 1 }, aliases);
    return (request) => writePointKey(request, aliases) !== undefined;
  }

  #fault(): Fault | undefined {
    const plan = this.#plan;
    if (plan === undefined) return undefined;
    const [crash, ...rest] = this.#crashes;
    this.#crashes = rest;
    if (crash !== undefined) return { kind: crash, kill: () => this.#crash() };
    if (this.#count > 1) return undefined;
    const error = errors[plan.disturbance];
    if (error !== undefined) return error;
    return {
      kind: "interleave",
      without: plan.isUnconditional === true ? guardsAgainst(plan.disturbance) : [],
      act: async (request) => {
        this.#interleaved = await interleave(plan.disturbance, this.#run, request);
      },
      after: async (status) => {
        const interleaved = this.#interleaved;
        if (interleaved === undefined) return;
        this.#harm = await harmOfWrite(plan.disturbance, this.#run, { interleaved, status });
      },
    };
  }

  #crash(): void {
    this.#next = this.#endAndBegin(this.#next);
  }

  async #endAndBegin(before: Promise<void>): Promise<void> {
    await before;
    await this.#end();
    await this.begin();
  }
}

/** The resourceVersion of a re-created object differs, too: against I5 it does what the uid does, and does it alone for a status. */
function guardsAgainst(id: DisturbanceId): readonly (keyof Preconditions)[] {
  return id === "I5" ? ["uid", "resourceVersion"] : ["resourceVersion"];
}
