import { apiVersionOf, defineKind, type Kind } from "../object/kind.ts";
import type { KubeObject } from "../object/kube-object.ts";

/** An event of events.k8s.io/v1. */
export interface EventObject extends KubeObject {
  readonly eventTime: string;
  readonly reportingController: string;
  readonly reportingInstance: string;
  readonly action: string;
  readonly reason: string;
  readonly regarding: EventSubject;
  readonly note: string;
  readonly type: "Normal" | "Warning";
  readonly series?: EventSeries;
}

/** Equal events that were seen again. */
export interface EventSeries {
  readonly count: number;
  readonly lastObservedTime: string;
}

/** What an event is about. */
export interface EventSubject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
}

/** What happened, and to what. */
export interface Occurrence {
  readonly subject: EventSubject;
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly action: string;
  readonly note: string;
}

/** Events. */
export const eventKind: Kind<EventObject> = defineKind<EventObject>({
  group: "events.k8s.io",
  version: "v1",
  kind: "Event",
  plural: "events",
  scope: "Namespaced",
});

/** The subject that an object is. */
export function subjectOf(kind: Kind, { metadata: { name, namespace, uid } }: KubeObject): EventSubject {
  return {
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    name,
    ...(namespace === undefined ? {} : { namespace }),
    ...(uid === undefined ? {} : { uid }),
  };
}

/** The server refuses longer ones. */
const noteLimit = 1_024;
const nameLimit = 200;

/** Who reports. */
export interface Reporter {
  readonly controller: string;
  readonly instance: string;
}

/** The object to create. An event of a cluster-scoped object goes into the namespace `default`. */
export function eventFor(
  { subject, type, reason, action, note }: Occurrence,
  { controller, instance }: Reporter,
  { suffix, wallMs }: { readonly suffix: string; readonly wallMs: number },
): EventObject {
  return {
    apiVersion: apiVersionOf(eventKind),
    kind: eventKind.kind,
    metadata: {
      name: `${subject.name.slice(0, nameLimit)}.${suffix}`,
      namespace: subject.namespace ?? "default",
    },
    eventTime: microTime(wallMs),
    reportingController: controller,
    reportingInstance: instance.slice(0, 128),
    action: action.slice(0, 128),
    reason: reason.slice(0, 128),
    regarding: subject,
    note: note.length > noteLimit ? `${note.slice(0, noteLimit - 1)}…` : note,
    type,
  };
}

/** Kubernetes wants six digits after the second. */
export function microTime(wallMs: number): string {
  return new Date(wallMs).toISOString().replace("Z", "000Z");
}
