/** Strings longer than this are hardly ever equal. */
const longestLength = 128;

/** Distinct strings remembered; beyond it the pool starts again, which costs memory for a while and nothing else. */
const limit = 50_000;

/** Makes equal strings of many objects one string in memory: about a quarter less for a tenth more work. */
export class StringPool {
  #strings = new Map<string, string>();

  /** Replaces the strings within a value that no one else has seen yet. */
  intern(value: unknown): void {
    const open: unknown[] = [value];
    while (open.length > 0) {
      const holder = open.pop();
      if (typeof holder !== "object" || holder === null) continue;
      for (const [key, child] of Object.entries(holder)) {
        if (typeof child === "string") Reflect.set(holder, key, this.#one(child));
        else open.push(child);
      }
    }
  }

  #one(string: string): string {
    if (string.length > longestLength) return string;
    const known = this.#strings.get(string);
    if (known !== undefined) return known;
    if (this.#strings.size >= limit) this.#strings = new Map();
    this.#strings.set(string, string);
    return string;
  }
}
