import { compareVersions, newerVersion, type ObjectKey } from "../object/kube-object.ts";

/** Enough for what can be in progress at the same time; older ones are folded into one version. */
const limit = 4_096;

/** Remembers at which version objects went away, so that a replayed event cannot bring one back. Bounded. */
export class Tombstones {
  readonly #versions = new Map<ObjectKey, string>();
  #floor = "0";

  /** The object under this key no longer existed at this version. */
  add(key: ObjectKey, version: string): void {
    const before = this.#versions.get(key) ?? version;
    this.#versions.delete(key);
    this.#versions.set(key, newerVersion(before, version));
    if (this.#versions.size <= limit) return;
    const [oldest] = this.#versions;
    if (oldest === undefined) return;
    this.#versions.delete(oldest[0]);
    this.#floor = newerVersion(this.#floor, oldest[1]);
  }

  /** Everything that is not there was not there at this version; "0" forgets all. */
  reset(version: string): void {
    this.#versions.clear();
    this.#floor = version;
  }

  /** Whether a version of an object that is not there is older than its absence. */
  isBuried(key: ObjectKey, version: string): boolean {
    return compareVersions(version, this.#versions.get(key) ?? this.#floor) <= 0;
  }

  /** The same for an object that is part of a full picture: only what is known of this very key counts. */
  hasOwnerLabels(key: ObjectKey, version: string): boolean {
    return compareVersions(version, this.#versions.get(key) ?? "") <= 0;
  }
}
