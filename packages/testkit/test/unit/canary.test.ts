import { expect, test } from "vitest";

import { hatchCanary } from "../../src/index.ts";

const canary = hatchCanary();

test.each([
  { name: "as it is", text: `password=${canary.value};`, want: "plain" },
  { name: "in base64", text: Buffer.from(`${canary.value}\n`).toString("base64"), want: "base64" },
  {
    name: "in base64 for URLs",
    text: Buffer.from(`${canary.value}\n`).toString("base64url"),
    want: "base64url",
  },
  { name: "in hex", text: Buffer.from(canary.value).toString("hex"), want: "hex" },
  { name: "encoded for a URL", text: `?q=${encodeURIComponent(canary.value)}`, want: "url-encoded" },
  { name: "cut off after its beginning", text: canary.value.slice(0, 20), want: "first 12 characters" },
  { name: "cut off before its end", text: canary.value.slice(20), want: "last 12 characters" },
])("finds the value $name", ({ text, want }) => {
  expect(canary.leaksIn(text)).toContain(want);
});

test("finds nothing where the value is not, and nothing of another canary", () => {
  expect(canary.leaksIn("canary/ of something else")).toEqual([]);
  expect(canary.leaksIn(hatchCanary().value)).toEqual([]);
});
