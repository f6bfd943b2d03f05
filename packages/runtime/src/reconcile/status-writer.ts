import type { Applied, Client } from "../client/client.ts";
import { classify } from "../errors.ts";
import { deepEqual } from "../object/deep-equal.ts";
import { apiVersionOf, type Kind } from "../object/kind.ts";
import type { KubeObject, Live, ObjectMeta } from "../object/kube-object.ts";
import { printableDeep } from "../object/printable.ts";
import { type Condition, conditionsFor } from "./condition.ts";
import type { ConditionUpdate, Outcome } from "./outcome.ts";

/** Conflicts in a row after which the whole reconcile is repeated instead. */
const tries = 5;

export type DesiredStatus = Omit<StatusFacts, "object">;

interface Written {
  readonly wanted: object;
  readonly found: unknown;
}

/**
 * Writes the status of objects of one kind: by server-side apply under our own name, once per reconcile, and only when it differs
 * from what is there. A conflict is settled here on fresh data, so that the work of the reconcile need not be repeated.
 */
export class StatusWriter<O extends KubeObject> {
  readonly #kind: Kind<O>;
  readonly #fieldManager: string;
  /** By uid: what was applied and what the server made of it, which differs where others own fields of the status. */
  readonly #written = new Map<string, Written>();

  constructor(kind: Kind<O>, fieldManager: string) {
    this.#kind = kind;
    this.#fieldManager = fieldManager;
  }

  /** True when something was written. An object that no longer exists, or another one by now, needs no status. */
  async write(client: Client, object: Live<O>, settings: DesiredStatus): Promise<boolean> {
    let current = object;
    for (let attempt = 1; ; attempt += 1) {
      const wanted = statusFor({ ...settings, object: current });
      if (this.#isCurrent(current, wanted)) return false;
      try {
        await this.#apply(client, current, { wanted, isLast: attempt === tries });
        return true;
      } catch (error) {
        const errorClass = classify(error);
        if (errorClass === "notFound") return false;
        if (errorClass !== "conflict" || attempt === tries) throw error;
      }
      const fresh = await client.find(this.#kind, current.metadata);
      if (fresh === undefined || fresh.metadata.uid !== object.metadata.uid) return false;
      current = asOf(object, fresh);
    }
  }

  /** The object no longer exists. */
  forget(uid: string): void {
    this.#written.delete(uid);
  }

  #isCurrent(object: Live<O>, wanted: object): boolean {
    if (isStatusCurrent(object, wanted)) return true;
    const written = this.#written.get(object.metadata.uid);
    return (
      written !== undefined && deepEqual(written.wanted, wanted) && deepEqual(written.found, statusIn(object))
    );
  }

  /**
   * With the resourceVersion, so that the server refuses to write to another object that has taken over the name: of a status it ignores the uid. The
   * last attempt goes without, on an object that was read right before: one that changes all the time gets its status too.
   */
  async #apply(
    client: Client,
    object: Live<O>,
    { wanted, isLast }: { readonly wanted: object; readonly isLast: boolean },
  ): Promise<void> {
    const { uid, resourceVersion } = object.metadata;
    const { name, namespace }: ObjectMeta = object.metadata;
    const metadata = {
      name,
      uid,
      ...(isLast ? {} : { resourceVersion }),
      namespace,
    };
    const body = { apiVersion: apiVersionOf(this.#kind), kind: this.#kind.kind, metadata, status: wanted };
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the type of a kind's status is the domain's; it gave the content
    const applied = await client.apply(this.#kind, body as unknown as Applied<O>, {
      fieldManager: this.#fieldManager,
      force: true,
      subresource: "status",
    });
    this.#written.set(uid, { wanted, found: statusIn(applied) });
  }
}

/** The present status, in the generation that was worked on: after an edit of the spec it must not say that the edit is done. */
function asOf<O extends KubeObject>({ metadata: { generation } }: Live<O>, fresh: Live<O>): Live<O> {
  return generation === undefined ? fresh : { ...fresh, metadata: { ...fresh.metadata, generation } };
}

function statusIn(object: KubeObject): unknown {
  return "status" in object ? object.status : undefined;
}

export interface StatusFacts {
  readonly object: KubeObject;
  readonly outcome: Outcome;
  /** The domain's status; undefined keeps the present one. */
  readonly content: object | undefined;
  /** Conditions of the domain besides Ready, Reconciling and Stalled. */
  readonly updates?: readonly ConditionUpdate[];
  /** The types of conditions that are the domain's; what is not claimed again stays. */
  readonly ownTypes?: readonly string[];
  readonly now: Date;
}

/** The whole status that the object should have. */
export function statusFor({ object, outcome, content, now, ...own }: StatusFacts): object {
  const { generation } = object.metadata;
  const current = currentStatus(object);
  const previous = conditionsOf(current);
  const { updates = [], ownTypes = [] } = own;
  const kept = previous
    .filter(({ type }) => ownTypes.includes(type) && !updates.some((update) => update.type === type))
    .map((condition) =>
      generation === undefined ? condition : { ...condition, observedGeneration: generation },
    );
  const conditions = [
    ...conditionsFor({
      outcome,
      updates,
      generation,
      previous,
      now: timestampOf(now),
    }),
    ...kept,
  ];
  const {
    conditions: _conditions,
    observedGeneration: _generation,
    ...rest
  } = content === undefined ? current : readStatus(printableDeep(content));
  return { ...rest, observedGeneration: generation, conditions };
}

/** Whether the object says already what the status should say. Conditions of other types are not ours to judge. */
export function isStatusCurrent(object: KubeObject, wanted: object): boolean {
  const { conditions: _present, ...present } = currentStatus(object);
  const { conditions: _wanted, ...rest } = readStatus(wanted);
  if (!deepEqual(present, rest)) return false;
  const held = conditionsOf(currentStatus(object));
  return conditionsOf(readStatus(wanted)).every((condition) =>
    deepEqual(
      held.find(({ type }) => type === condition.type),
      condition,
    ),
  );
}

/** A status as far as it has a known shape. */
type LooseStatus = Readonly<Record<string, unknown>> & {
  readonly observedGeneration?: unknown;
  readonly conditions?: unknown;
};

function currentStatus(object: KubeObject): LooseStatus {
  return "status" in object ? readStatus(object.status) : {};
}

function readStatus(status: unknown): LooseStatus {
  return typeof status === "object" && status !== null && !Array.isArray(status) ? { ...status } : {};
}

function conditionsOf({ conditions }: LooseStatus): readonly Condition[] {
  return Array.isArray(conditions) ? conditions.filter(isCondition) : [];
}

function isCondition(value: unknown): value is Condition {
  return typeof value === "object" && value !== null && "type" in value && "status" in value;
}

/** RFC 3339 in whole seconds, as the API server writes times. */
export function timestampOf(now: Date): string {
  return now.toISOString().replace(/\.\d+Z$/, "Z");
}
