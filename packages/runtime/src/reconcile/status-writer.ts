import type { Applied, Client } from "../client/client.ts";
import { classify } from "../errors.ts";
import { deepEqual } from "../object/deep-equal.ts";
import { apiVersionOf, type Kind } from "../object/kind.ts";
import type { KubeObject, Live, ObjectMeta } from "../object/kube-object.ts";
import { isStatusCurrent, statusFor, type StatusFacts } from "./status.ts";

/** Conflicts in a row after which the whole reconcile is repeated instead. */
const tries = 5;

/** What the status of an object should come to. */
export type StatusWish = Omit<StatusFacts, "object">;

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

  /** True when something was written. An object that is gone, or another one by now, needs no status. */
  async write(client: Client, object: Live<O>, wish: StatusWish): Promise<boolean> {
    let current = object;
    for (let attempt = 1; ; attempt += 1) {
      const wanted = statusFor({ ...wish, object: current });
      if (this.#isCurrent(current, wanted)) return false;
      try {
        await this.#apply(client, current, wanted);
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

  /** The object is gone. */
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

  async #apply(client: Client, object: Live<O>, wanted: object): Promise<void> {
    const { uid } = object.metadata;
    const { name, namespace }: ObjectMeta = object.metadata;
    // With the uid the server refuses to write to another object that has taken over the name.
    const metadata = { name, uid, ...(namespace === undefined ? {} : { namespace }) };
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

/** What is there now, in the generation that was worked on: who changed the spec meanwhile must not read that it is done. */
function asOf<O extends KubeObject>({ metadata: { generation } }: Live<O>, fresh: Live<O>): Live<O> {
  return generation === undefined ? fresh : { ...fresh, metadata: { ...fresh.metadata, generation } };
}

function statusIn(object: KubeObject): unknown {
  return "status" in object ? object.status : undefined;
}
