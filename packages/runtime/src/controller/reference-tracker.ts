import type { ObjectKey } from "../object/kube-object.ts";

/** Who follows what: references that were found while working on an object, and hold until a later reconcile drops them. */
export class ReferenceTracker {
  readonly #followers = new Map<string, Set<ObjectKey>>();
  readonly #targets = new Map<ObjectKey, Set<string>>();

  /** Those who follow the object. */
  followersOf(kindName: string, key: ObjectKey): Iterable<ObjectKey> {
    return this.#followers.get(targetOf(kindName, key)) ?? [];
  }

  /** A reconcile begins: what it follows counts at once, what it no longer follows is dropped by `end`. */
  begin(follower: ObjectKey): { follow(kindName: string, key: ObjectKey): void; end(): void } {
    const fresh = new Set<string>();
    return {
      follow: (kindName, key) => {
        const target = targetOf(kindName, key);
        fresh.add(target);
        this.#add(target, follower);
      },
      end: () => {
        for (const target of this.#targets.get(follower) ?? [])
          if (!fresh.has(target)) this.#drop(target, follower);
        this.#remember(follower, fresh);
      },
    };
  }

  /** The follower is gone. */
  forget(follower: ObjectKey): void {
    for (const target of this.#targets.get(follower) ?? []) this.#drop(target, follower);
    this.#targets.delete(follower);
  }

  #remember(follower: ObjectKey, targets: Set<string>): void {
    if (targets.size === 0) this.#targets.delete(follower);
    else this.#targets.set(follower, targets);
  }

  #add(target: string, follower: ObjectKey): void {
    const followers = this.#followers.get(target);
    if (followers === undefined) this.#followers.set(target, new Set([follower]));
    else followers.add(follower);
    const targets = this.#targets.get(follower);
    if (targets === undefined) this.#targets.set(follower, new Set([target]));
    else targets.add(target);
  }

  #drop(target: string, follower: ObjectKey): void {
    const followers = this.#followers.get(target);
    followers?.delete(follower);
    if (followers?.size === 0) this.#followers.delete(target);
  }
}

function targetOf(kindName: string, key: ObjectKey): string {
  return `${kindName} ${key}`;
}
