import { resolve } from "node:path";

import { expect, test } from "vitest";

import { readCaseLists } from "../cases/case-list.ts";

const lists = readCaseLists(resolve(import.meta.dirname, "../../docs/acceptance"));

test.each(lists)("the ids of $name are there and unique", ({ ids }) => {
  expect(ids.length).toBeGreaterThan(0);
  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
});

const sizes = [
  { name: "faults", want: 110 },
  { name: "first-use", want: 20 },
  { name: "install-plan", want: 137 },
  { name: "licensing", want: 104 },
  { name: "local-cluster", want: 25 },
  { name: "packaging", want: 55 },
  { name: "runtime", want: 33 },
  { name: "search", want: 130 },
  { name: "security", want: 128 },
  { name: "subscription-injection", want: 148 },
];

test("no case of a specification was dropped", () => {
  expect(lists.map(({ name, ids }) => ({ name, want: ids.length }))).toEqual(sizes);
});
