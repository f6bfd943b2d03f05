import type { Fault } from "./fault.ts";
import type { RequestMatch, SeenRequest } from "./seen-request.ts";

/** A fault that was ordered. */
export interface InjectedFault {
  /** How often it was done so far. */
  readonly hits: number;
  /** Resolves with the first request it was done to. */
  readonly struck: Promise<SeenRequest>;
}

/** The faults that are still to be done, first come first served. */
export class FaultPlan {
  #orders: Order[] = [];

  add(match: RequestMatch, fault: Fault, times: number): InjectedFault {
    const { promise: struck, resolve } = Promise.withResolvers<SeenRequest>();
    const order: Order = { match, fault, left: times, hits: 0, struck, resolve };
    this.#orders.push(order);
    return order;
  }

  clear(): void {
    this.#orders = [];
  }

  /** The fault to be done to this request, if any; counts it. */
  next(request: SeenRequest): Fault | undefined {
    const order = this.#orders.find(({ match, left }) => left > 0 && match(request));
    if (order === undefined) return undefined;
    order.left -= 1;
    order.hits += 1;
    order.resolve(request);
    return order.fault;
  }
}

interface Order extends InjectedFault {
  readonly match: RequestMatch;
  readonly fault: Fault;
  readonly resolve: (request: SeenRequest) => void;
  hits: number;
  left: number;
}
