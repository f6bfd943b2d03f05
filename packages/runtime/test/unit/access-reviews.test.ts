import { describe, expect, test } from "vitest";

import { AccessCache, type AccessRequest } from "../../src/access/review-access.ts";
import type { Client, RawRequest } from "../../src/client/client.ts";

const request: AccessRequest = { verb: "get", group: "", resource: "secrets", namespace: "ns", name: "one" };

/** A server that counts the questions; `answer` may throw. */
function aCache({ response = () => true }: { response?: () => boolean } = {}) {
  const requested: RawRequest[] = [];
  let nowMs = 0;
  const client = {
    raw: async (raw: RawRequest) => {
      requested.push(raw);
      return await Promise.resolve({ status: { allowed: response() } });
    },
  } as unknown as Client;
  const cache = new AccessCache({ client, system: { monotonicMs: () => nowMs }, limit: 3 });
  return {
    cache,
    requested,
    advance: (ms: number) => {
      nowMs += ms;
    },
  };
}

describe("an access cache", () => {
  test("asks once while an allowed answer holds", async () => {
    const { cache, requested, advance } = aCache();
    expect([await cache.isAllowed(request), await cache.isAllowed(request)]).toEqual([true, true]);
    advance(9_999);
    await cache.isAllowed(request);
    expect(requested).toHaveLength(1);
    advance(1);
    await cache.isAllowed(request);
    expect(requested).toHaveLength(2);
  });

  test("keeps a refusal for a shorter time", async () => {
    const { cache, requested, advance } = aCache({ response: () => false });
    await cache.isAllowed(request);
    advance(2_000);
    expect(await cache.isAllowed(request)).toBe(false);
    expect(requested).toHaveLength(2);
  });

  test("shares a question that is in progress", async () => {
    const { cache, requested } = aCache();
    await Promise.all([cache.isAllowed(request), cache.isAllowed(request)]);
    expect(requested).toHaveLength(1);
  });

  test("queries again after a change of permissions", async () => {
    const { cache, requested } = aCache();
    await cache.isAllowed(request);
    cache.clear();
    await cache.isAllowed(request);
    expect(requested).toHaveLength(2);
  });

  test("never takes a failure for a response", async () => {
    let isDown = true;
    const { cache } = aCache({
      response: () => {
        if (isDown) throw new Error("no answer");
        return true;
      },
    });
    await expect(cache.isAllowed(request)).rejects.toThrow("no answer");
    isDown = false;
    expect(await cache.isAllowed(request)).toBe(true);
  });

  test.each([
    { name: "another name", other: { ...request, name: "two" } },
    { name: "no name, which means all", other: { ...request, name: undefined } },
    { name: "another verb", other: { ...request, verb: "list" } },
  ])("does not mix up $name", async ({ other }) => {
    const { cache, requested } = aCache();
    await cache.isAllowed(request);
    await cache.isAllowed(other);
    expect(requested).toHaveLength(2);
  });

  test("does not mix up users whose groups look alike when joined", async () => {
    const { cache, requested } = aCache();
    await cache.isAllowed(request, { subject: { user: "a", groups: ["b", "c"] } });
    await cache.isAllowed(request, { subject: { user: "a", groups: ["b,c"] } });
    expect(requested).toHaveLength(2);
  });

  test("forgets the oldest answers beyond its limit", async () => {
    const { cache, requested } = aCache();
    for (const name of ["one", "two", "three", "four", "four", "one"])
      await cache.isAllowed({ ...request, name });
    expect(
      requested.map(({ body }) => (body as { spec: { resourceAttributes: AccessRequest } }).spec),
    ).toMatchObject(["one", "two", "three", "four", "one"].map((name) => ({ resourceAttributes: { name } })));
  });
});
