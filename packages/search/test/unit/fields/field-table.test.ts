import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import {
  elasticsearchCluster,
  openSearchCluster,
  opsterOpenSearchCluster,
  searchFields,
  type SearchKind,
  verdictOf,
} from "@quartermaster/api";
import { realSystem } from "@quartermaster/runtime";
import { toStructuralSchema } from "@quartermaster/runtime/schema";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";

import { fieldPaths, leavesOf } from "../../support/schema-paths.ts";

const kinds = [openSearchCluster, opsterOpenSearchCluster, elasticsearchCluster] as const;

function pathsOf(resource: (typeof kinds)[number]): readonly string[] {
  return fieldPaths(toStructuralSchema(resource.request.spec));
}

function kindOf(resource: (typeof kinds)[number]): SearchKind {
  return resource.kind.kind === "ElasticsearchCluster" ? "ElasticsearchCluster" : "OpenSearchCluster";
}

describe("the table of fields", () => {
  test.for(kinds)("[search/SC-05] every field of $kind.kind in $kind.group has a verdict", (resource) => {
    const paths = leavesOf(pathsOf(resource));
    expect(paths.length).toBeGreaterThan(150);
    expect(paths.filter((path) => verdictOf(kindOf(resource), path) === undefined)).toEqual([]);
  });

  test.for(kinds)("has no path that $kind.kind in $kind.group does not have", (resource) => {
    const paths = new Set(pathsOf(resource));
    // `bootstrap` and the like are not part of every kind.
    const roots = new Set([...paths].map((path) => path.split(/[.[]/)[0]));
    const named = Object.keys(searchFields[kindOf(resource)]).filter((path) =>
      roots.has(path.split(/[.[]/)[0]),
    );
    expect(named.filter((path) => !paths.has(path))).toEqual([]);
  });

  test("says of fields without effect why, in a sentence", () => {
    const verdicts = Object.values(searchFields).flatMap((table) => Object.values(table));
    const reasons = verdicts.flatMap((verdict) =>
      verdict.verdict === "effect" ? verdict.idle.map(({ why }) => why) : [verdict.why],
    );
    expect(reasons.filter((why) => !/^\w.*\.$/.test(why))).toEqual([]);
  });
});

const fixtures = join(
  realSystem().env["QM_FIXTURES"] ?? join(import.meta.dirname, "../../../../../../shared/fixtures"),
  "opensearch-upstream/crds",
);

describe.skipIf(!existsSync(fixtures))("definitions of upstream (fixtures not present: skipped)", () => {
  test.for(["opensearch.org", "opensearch.opster.io"])(
    "[search/SC-05] every field has a verdict, those below schemaless parents too: %s",
    (group) => {
      const crd = parse(readFileSync(join(fixtures, `${group}_opensearchclusters.yaml`), "utf8")) as {
        readonly spec: {
          readonly versions: readonly {
            readonly schema: { readonly openAPIV3Schema: { readonly properties: { readonly spec: object } } };
          }[];
        };
      };
      const paths = leavesOf(fieldPaths(crd.spec.versions[0]?.schema.openAPIV3Schema.properties.spec));
      expect(paths.length).toBeGreaterThan(600);
      expect(paths.filter((path) => verdictOf("OpenSearchCluster", path) === undefined)).toEqual([]);
    },
  );
});
