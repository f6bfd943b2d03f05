import type { ControllerReport } from "../controller/controller-run.ts";
import type { Controller } from "../controller/define-controller.ts";
import type { EventSubject, Occurrence } from "../events/event-object.ts";
import { reasons } from "../reasons.ts";

/** A domain, or a controller outside of all domains, that does not work because it may not watch what it needs. */
export interface OffPart {
  readonly name: string;
  /** For users: what is missing and who grants it; the same as long as nothing changes. */
  readonly message: string;
}

/** Which parts of the operator are off. The others work: nothing of theirs waits for a permission that they do not need. */
export function offParts(
  controllers: readonly Pick<Controller, "name" | "domain">[],
  reports: readonly Pick<ControllerReport, "name" | "forbidden">[],
): readonly OffPart[] {
  const refused = reports.filter(({ forbidden }) => forbidden.length > 0);
  const byPart = Map.groupBy(refused, ({ name }) => partOf(name, controllers).name);
  return [...byPart].map(([name, off]) => {
    const kinds = [...new Set(off.flatMap(({ forbidden }) => forbidden))].toSorted().join(", ");
    const { grantedBy } = partOf(off[0]?.name ?? "", controllers);
    const remedy = grantedBy === undefined ? "grant the permissions" : `apply ${grantedBy}`;
    return { name, message: `off, because the operator may not list and watch ${kinds}; ${remedy}` };
  });
}

function partOf(
  name: string,
  controllers: readonly Pick<Controller, "name" | "domain">[],
): NonNullable<Controller["domain"]> {
  return controllers.find((controller) => controller.name === name)?.domain ?? { name };
}

export function offEvent(pod: EventSubject, { name, message }: OffPart): Occurrence {
  return {
    subject: pod,
    type: "Warning",
    reason: reasons.domainOff,
    action: "Start",
    note: `Domain ${name} is ${message}. The other domains work.`,
  };
}
