import type { QueueObserver } from "../queue/work-queue.ts";
import type { ControllerObserver } from "./controller-host.ts";

/** The queue's counts under the name of its controller. */
export function queueObserverFor(controller: string, observer: ControllerObserver): QueueObserver {
  return {
    queueAdded: () => observer.queueAdded?.({ controller }),
    queueDepth: (depths) => observer.queueDepth?.({ controller, depths }),
    queueLatency: (durationMs) => observer.queueLatency?.({ controller, durationMs }),
    workDuration: (durationMs) => observer.workDuration?.({ controller, durationMs }),
    queueRetried: () => observer.queueRetried?.({ controller }),
  };
}
