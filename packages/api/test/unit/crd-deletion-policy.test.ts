import { readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { kinds } from "../../src/index.ts";

const repository = join(import.meta.dirname, "../../../..");

test("the policy that guards our definitions names all of them but Shares", () => {
  const policy = readFileSync(join(repository, "config/policy/crd-deletion.yaml"), "utf8");
  const named = [...policy.matchAll(/^ +'([a-z]+\.[a-z.0-9]+)',?$/gm)].map(([, name = ""]) => name);
  const ours = kinds
    .map(({ kind }) => `${kind.plural}.${kind.group}`)
    .filter((name) => name !== "shares.projectedresource.storage.openshift.io");
  expect(named.toSorted()).toEqual(ours.toSorted());
});
