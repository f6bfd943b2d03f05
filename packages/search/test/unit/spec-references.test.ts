import { describe, expect, test } from "vitest";

import { isObjectName, missingReferences, specReferences } from "../../src/material/spec-references.ts";
import { aDashboards, aPool, aSearchCluster } from "../a-search-cluster.ts";

const base = aSearchCluster();
const { security, image, pod } = base;
const volume = (source: object): object => ({ name: "v", path: "/v", ...source });

describe("[first-use/2] objects that a spec names", () => {
  test.for<[string, ReturnType<typeof aSearchCluster>, readonly string[]]>([
    ["none", base, []],
    [
      "files of users",
      { ...base, security: { ...security, securityConfigSecret: "files" } },
      ["Secret files"],
    ],
    [
      "files of users without security",
      { ...base, security: { ...security, isEnabled: false, securityConfigSecret: "files" } },
      [],
    ],
    ["pull secrets", { ...base, image: { ...image, pullSecrets: ["pull"] } }, ["Secret pull"]],
    [
      "volumes of the cluster",
      {
        ...base,
        pod: {
          ...pod,
          volumes: [
            volume({ secret: { secretName: "s" } }),
            volume({ configMap: { name: "c" } }),
            volume({ emptyDir: {} }),
          ],
        } as typeof pod,
      },
      ["Secret s", "ConfigMap c"],
    ],
    [
      "projected volumes of a pool, and optional ones",
      {
        ...base,
        pools: [
          aPool({
            pod: {
              ...pod,
              volumes: [
                volume({ projected: { sources: [{ secret: { name: "p" } }, { configMap: { name: "q" } }] } }),
                volume({ secret: { secretName: "maybe", optional: true } }),
              ],
            } as typeof pod,
          }),
        ],
      },
      ["Secret p", "ConfigMap q"],
    ],
    [
      "those of Dashboards",
      { ...base, dashboards: aDashboards({ image: { ...image, pullSecrets: ["d"] } }) },
      ["Secret d"],
    ],
  ])("%s", ([, cluster, want]) => {
    expect(specReferences(cluster).map(({ kind, name }) => `${kind} ${name}`)).toEqual(want);
  });

  test("a name that no object can have reaches no request", () => {
    expect(["a", "a-b.c", "0"].every(isObjectName)).toBe(true);
    expect(["", "A", "a=b,c!=d", "../x", "a".repeat(254), "-a"].some(isObjectName)).toBe(false);
  });

  test("what the operator makes itself is not the user's to create", () => {
    expect(missingReferences(["Secret a", "own CA"])).toEqual(["Secret a"]);
  });
});
