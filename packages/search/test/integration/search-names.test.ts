import { describe, expect, test } from "vitest";

import { aCluster, aPool, conditionOf, messageOf, setUpSearch } from "../support/search-bench.ts";

const selector = "a=b,c!=d";

describe("[security/112] what an author writes as a name", () => {
  test("is refused at admission where it refers to an object", async () => {
    await using bench = await setUpSearch({ isOperating: false });
    const config = { securityConfigSecret: { name: selector } };
    await expect(bench.apply(aCluster("logs", { spec: { security: { config } } }))).rejects.toThrow(
      /securityConfigSecret.name.*should match/s,
    );
    const keystore = [{ secret: { name: selector } }];
    await expect(bench.apply(aCluster("logs", { general: { keystore } }))).rejects.toThrow(
      /keystore\[0\].secret.name.*should match/s,
    );
  });

  test("never becomes a selector: a Secret of that name in a volume is one that does not exist", async () => {
    await using bench = await setUpSearch();
    const position = await bench.cluster.audit.position();
    const volume = { name: "keys", path: "/keys", restartPods: true, secret: { secretName: selector } };
    const pools = [aPool("nodes", 1)];
    await bench.apply(aCluster("logs", { pools, general: { additionalVolumes: [volume] } }));
    await bench.until("logs", (found) =>
      (found.status?.blockers ?? []).some(({ message }) => message.includes(`Secret ${selector}`)),
    );
    const requested = await bench.cluster.audit.since(position, { namespace: bench.namespace });
    expect(requested.filter(({ code }) => code === 400)).toEqual([]);
  });

  test("of 500 wrong settings the first ten are named, and how many more there are", async () => {
    await using bench = await setUpSearch();
    const additionalConfig = Object.fromEntries(
      Array.from(
        { length: 500 },
        (_, at) => [`wrong-${String(at).padStart(3, "0")}`, "[".repeat(20)] as const,
      ),
    );
    await bench.apply(aCluster("logs", { pools: [aPool("nodes", 1, { additionalConfig })] }));
    const refused = await bench.until(
      "logs",
      (found) => conditionOf(found, "Stalled") === "True/InvalidSpec",
    );
    expect(messageOf(refused)).toMatch(/wrong-000.*wrong-009.* and 490 more/s);
    expect(messageOf(refused)).not.toContain("wrong-010");
  });
});
