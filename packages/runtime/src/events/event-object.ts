import { definedFields } from "../object/defined-fields.ts";
import { apiVersionOf, defineKind, type Kind } from "../object/kind.ts";
import type { KubeObject } from "../object/kube-object.ts";
import { printable } from "../object/printable.ts";

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

export interface EventSubject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
}

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
  return definedFields({ apiVersion: apiVersionOf(kind), kind: kind.kind, name, namespace, uid });
}

/** The server refuses longer ones; it counts bytes. */
const noteLimitBytes = 1_024;
const tokenLimitBytes = 128;
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
      name: `${stemOf(subject.name)}.${suffix}`,
      namespace: subject.namespace ?? "default",
    },
    eventTime: microTime(wallMs),
    reportingController: controller,
    reportingInstance: cutTo(instance, tokenLimitBytes),
    action: cutTo(action, tokenLimitBytes),
    reason: cutTo(reason, tokenLimitBytes),
    regarding: subject,
    note: cutTo(printable(note), noteLimitBytes, "…"),
    type,
  };
}

/** Names of events are stricter than those of some kinds: `system:node` is a good ClusterRole. */
function stemOf(name: string): string {
  const lowered = name.toLowerCase().replaceAll(/[^a-z\d.-]/g, "-");
  const parts = lowered.slice(0, nameLimit).split(".");
  const stems = parts.map((part) => part.replaceAll(/^-+|-+$/g, "")).filter((part) => part !== "");
  return stems.length === 0 ? "event" : stems.join(".");
}

/** As much of the text as the limit holds, in whole characters, with `ending` where something was left out. */
function cutTo(text: string, limitBytes: number, ending = ""): string {
  if (Buffer.byteLength(text) <= limitBytes) return text;
  const room = new Uint8Array(limitBytes - Buffer.byteLength(ending));
  const { written } = new TextEncoder().encodeInto(text, room);
  return `${Buffer.from(room.subarray(0, written)).toString("utf8")}${ending}`;
}

/** Kubernetes wants six digits after the second. */
export function microTime(wallMs: number): string {
  return new Date(wallMs).toISOString().replace("Z", "000Z");
}
